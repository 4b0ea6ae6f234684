#include "workflows/compiler.h"

#include <optional>

#include "core/files.h"
#include "graph/fuse.h"
#include "graph/shapes.h"
#include "graph/support.h"
#include "workflows/compiler/against.h"
#include "workflows/compiler/compiled_graph.h"

namespace aaco::workflows {
namespace {

using analytics::compiler::node_name;
using core::ErrorCode;
using core::Json;

// The temporary folder of the optimised graphs, or the one that was asked for.
struct Workplace {
  std::optional<core::TemporaryDirectory> temporary;
  std::string path;
};

core::Result<Workplace> open_workplace(const CompilerRequest& request, const Services& services) {
  Workplace place;
  if (!request.folder.empty()) {
    AACO_TRY(core::make_directories(request.folder));
    place.path = request.folder;
    return place;
  }
  AACO_TRY(core::make_directories(services.paths.cache));
  AACO_ASSIGN(place.temporary, core::TemporaryDirectory::make(services.paths.cache, "compiler"));
  place.path = place.temporary->path();
  return place;
}

Json miss_json(const graph::Graph& before, const graph::NearMiss& miss, const analytics::compiler::CompilerRules& rules) {
  Json nodes = Json::array();
  for (const std::size_t node : miss.nodes) nodes.push(node_name(before, node));
  const auto* reason = rules.find(miss.reason);
  Json out = Json::object({{"reason", miss.reason},
                           {"pattern", miss.pattern},
                           {"first", node_name(before, miss.first)},
                           {"second", node_name(before, miss.second)},
                           {"condition", miss.condition},
                           {"nodes", std::move(nodes)}});
  if (miss.cause) out.set("cause", node_name(before, *miss.cause));
  if (reason != nullptr) out.set("title", reason->title).set("remedy", reason->remedy);
  return out;
}

}  // namespace

core::Result<Json> inspect_compiler(const CompilerRequest& request, const Services& services) {
  AACO_ASSIGN(const Against against, resolve_against(request.against, services));
  AACO_ASSIGN(const RunPlan plan, plan_run(request.run, services));
  graph::Graph before = plan.graph;
  AACO_TRY(graph::inline_functions(before));
  graph::infer_shapes(before);
  AACO_ASSIGN(const auto rules,
              analytics::compiler::load_compiler_rules(core::join_path(services.paths.share, "data/rules/compiler.yaml")));
  AACO_ASSIGN(auto fusions, graph::load_fusion_rules(core::join_path(services.paths.share, "data/fusion/onnxruntime_cpu.yaml")));
  AACO_ASSIGN(const auto further,
              graph::load_fusion_rules(core::join_path(services.paths.share, "data/rules/compiler_onnxruntime.yaml")));
  fusions.patterns.insert(fusions.patterns.end(), further.patterns.begin(), further.patterns.end());
  AACO_ASSIGN(const auto runtime, runner::ort::Runtime::open({request.run.ort_library, services.environment, services.paths}));
  AACO_ASSIGN(const Workplace place, open_workplace(request, services));
  const std::string level = request.run.graph_level;
  std::optional<CompiledGraph> chosen, other;
  Json levels = Json::array();
  for (const char* one : analytics::compiler::kLevels) {
    const bool wanted = one == level || (against.kind == Against::Kind::level && one == against.name);
    if (!wanted && !request.every_level) continue;
    services.progress("optimising the graph at level " + std::string(one));
    AACO_ASSIGN(CompiledGraph compiled, compile_graph(*runtime, plan, before, one, place.path));
    levels.push(level_json(compiled));
    if (against.kind == Against::Kind::level && one == against.name) other = compiled;
    if (one == level) chosen = std::move(compiled);
  }
  const auto missed = analytics::compiler::missed_fusions(chosen->diff, graph::near_misses(before, fusions, rules.slack), level);
  Json not_fused = Json::array();
  for (const auto& miss : missed) not_fused.push(miss_json(before, miss, rules));
  Json out = Json::object({{"schema_version", 1},
                           {"model", plan.model_name},
                           {"runtime", Json::object({{"name", "onnxruntime"},
                                                     {"version", runtime->version()},
                                                     {"library", core::base_name(runtime->library_path())},
                                                     {"provider", plan.backend.provider}})},
                           {"opset", before.opsets.contains("") ? Json(before.opsets.at("")) : Json()},
                           {"nodes", before.nodes.size()},
                           {"level", level},
                           {"levels", std::move(levels)},
                           {"fused", fused_json(before, *chosen)},
                           {"inserted", inserted_json(*chosen)},
                           {"not_fused", std::move(not_fused)},
                           {"compiler_nodes", nodes_json(before, *chosen, missed)}});
  if (against.kind == Against::Kind::level) {
    out.set("against", compare_fused(level_side(level, out["fused"]), level_side(other->level, fused_json(before, *other))));
  } else if (against.kind == Against::Kind::library) {
    AACO_ASSIGN(const Json there, inspect_with_library(request, against.name, services));
    out.set("against", compare_fused(library_side(out), library_side(there)));
  } else if (against.kind == Against::Kind::backend) {
    AACO_ASSIGN(Json there, place_on_backend(request, against.name, services));
    out.set("against", std::move(there));
  } else if (against.kind == Against::Kind::provider) {
    AACO_ASSIGN(const auto support, graph::load_backend_support(against.path));
    out.set("against", provider_json(before, support, rules));
  }
  if (!request.folder.empty()) {
    AACO_TRY(write_compiler_nodes(out["compiler_nodes"], place.path));
    AACO_TRY(core::write_file_atomic(core::join_path(place.path, "compiler.json"), out.dump() + "\n"));
  }
  return out;
}

}  // namespace aaco::workflows
