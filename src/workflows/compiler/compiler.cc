#include "workflows/compiler.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/files.h"
#include "graph/fuse.h"
#include "graph/shapes.h"
#include "graph/support.h"
#include "workflows/compiler/against.h"
#include "workflows/compiler/backend_seams.h"
#include "workflows/compiler/compiled_graph.h"
#include "workflows/compiler/drawing.h"
#include "workflows/compiler/kernel_times.h"

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

bool has_pattern(const graph::FusionRules& rules, const std::string& name) {
  return std::any_of(rules.patterns.begin(), rules.patterns.end(), [&](const auto& one) { return one.name == name; });
}

// A provider that compiles its nodes leaves a graph that cannot be written: then `plan` becomes one of the CPU provider, whose
// graph is shown, and what the provider takes is told apart from it (place_on_backend).
core::Result<CompiledGraph> compile_writable(runner::ort::Runtime& runtime, RunPlan& plan, const graph::Graph& before,
                                             const std::string& level, const std::string& folder) {
  constexpr std::string_view kCpu = "CPUExecutionProvider", kCompiled = "compiled nodes";
  auto compiled = compile_graph(runtime, plan, before, level, folder);
  const bool is_taken = plan.backend.provider != kCpu && !compiled &&
                        (compiled.error().message.find(kCompiled) != std::string::npos ||
                         compiled.error().message.find("runs none of the model's nodes") != std::string::npos);
  if (!is_taken) return compiled;
  plan.backend.provider = kCpu;
  plan.backend.provider_options.clear();
  return compile_graph(runtime, plan, before, level, folder);
}

using MissedByGraph = std::map<std::string, std::vector<graph::NearMiss>>;  // by CompiledGraph::within

Json miss_json(const graph::Graph& before, const std::string& within, const graph::NearMiss& miss,
               const analytics::compiler::CompilerRules& rules) {
  Json nodes = Json::array();
  for (const std::size_t node : miss.nodes) nodes.push(node_name(before, node));
  const auto* reason = rules.find(miss.reason);
  Json out = Json::object({{"reason", miss.reason},
                           {"pattern", miss.pattern},
                           {"first", node_name(before, miss.first)},
                           {"second", node_name(before, miss.second)},
                           {"condition", miss.condition},
                           {"nodes", std::move(nodes)}});
  if (!within.empty()) out.set("within", within);
  if (miss.cause) out.set("cause", node_name(before, *miss.cause));
  if (reason != nullptr) out.set("title", reason->title).set("remedy", reason->remedy);
  return out;
}

// The lists of a document, with the time of each kernel where it was measured.
struct Lists {
  Json fused, inserted, nodes;
};

Lists lists_of(const graph::Graph& before, const CompiledGraph& compiled, const MissedByGraph& missed,
               const std::optional<KernelTimes>& times) {
  Lists lists{fused_json(before, compiled), inserted_json(compiled), nodes_json(before, compiled, missed)};
  if (times)
    for (Json* list : {&lists.fused, &lists.inserted, &lists.nodes}) set_times(*list, *times);
  return lists;
}

// `both_ns`: what the two kernels that stay apart take together.
Json with_times(Json not_fused, const Json& nodes) {
  std::map<std::string, double> time_of;
  for (const Json& row : nodes.items())
    if (const auto time = row["time_ns"].as_f64(); time && !row["node"].is_null())
      time_of[std::string(row["node"].text())] = *time;
  Json out = Json::array();
  for (Json miss : not_fused.items()) {
    const auto first = time_of.find(std::string(miss["first"].text())), second = time_of.find(std::string(miss["second"].text()));
    if (first != time_of.end() && second != time_of.end()) miss.set("both_ns", first->second + second->second);
    out.push(std::move(miss));
  }
  return out;
}

std::optional<double> call_of(const std::optional<KernelTimes>& times) {
  return times ? std::optional(times->call_ns) : std::nullopt;
}

}  // namespace

core::Result<Json> inspect_compiler(const CompilerRequest& request, const Services& services) {
  AACO_ASSIGN(Against against, resolve_against(request.against, services));
  AACO_ASSIGN(RunPlan plan, plan_run(request.run, services));
  const std::string asked = plan.backend.provider;
  if (against.kind == Against::Kind::nothing && is_built_backend(request.run.backend, services))
    against = {Against::Kind::backend, request.run.backend, {}};  // it is asked what it left to the CPU
  graph::Graph before = plan.graph;
  AACO_TRY(graph::inline_functions(before));
  graph::infer_shapes(before);
  AACO_ASSIGN(const auto rules,
              analytics::compiler::load_compiler_rules(core::join_path(services.paths.share, "data/rules/compiler.yaml")));
  AACO_ASSIGN(auto fusions, graph::load_fusion_rules(core::join_path(services.paths.share, "data/fusion/onnxruntime_cpu.yaml")));
  AACO_ASSIGN(const auto further,
              graph::load_fusion_rules(core::join_path(services.paths.share, "data/rules/compiler_onnxruntime.yaml")));
  std::erase_if(fusions.patterns, [&](const graph::FusionPattern& one) { return has_pattern(further, one.name); });
  fusions.patterns.insert(fusions.patterns.end(), further.patterns.begin(), further.patterns.end());
  fusions.eliminations = further.eliminations;
  AACO_ASSIGN(const auto runtime, runner::ort::Runtime::open({request.run.ort_library, services.environment, services.paths}));
  AACO_ASSIGN(const Workplace place, open_workplace(request, services));
  const std::string level = request.run.graph_level;
  std::optional<CompiledGraph> chosen, other;
  Json levels = Json::array();
  for (const char* one : analytics::compiler::kLevels) {
    const bool wanted = one == level || (against.kind == Against::Kind::level && one == against.name);
    if (!wanted && !request.every_level) continue;
    services.progress("optimising the graph at level " + std::string(one));
    AACO_ASSIGN(CompiledGraph compiled, compile_writable(*runtime, plan, before, one, place.path));
    levels.push(level_json(compiled));
    if (against.kind == Against::Kind::level && one == against.name) other = compiled;
    if (one == level) chosen = std::move(compiled);
  }
  MissedByGraph missed;
  Json not_fused = Json::array();
  std::size_t nodes = 0;
  visit_graphs(before, *chosen, [&](const graph::Graph& one, const CompiledGraph& compiled) {
    nodes += one.nodes.size();
    auto& found = missed[compiled.within];
    found = analytics::compiler::missed_fusions(compiled.diff, graph::near_misses(one, fusions, rules.slack), level);
    for (const auto& miss : found) not_fused.push(miss_json(one, compiled.within, miss, rules));
  });
  const auto measured = [&](const std::string& one) -> core::Result<std::optional<KernelTimes>> {
    if (!request.timed) return std::optional<KernelTimes>();
    AACO_ASSIGN(KernelTimes times, measure_kernels(*runtime, plan, request.run, one, place.path, services));
    return std::optional(std::move(times));
  };
  AACO_ASSIGN(const auto times, measured(level));
  const Lists lists = lists_of(before, *chosen, missed, times);
  Json out = Json::object({{"schema_version", 1},
                           {"model", plan.model_name},
                           {"runtime", Json::object({{"name", "onnxruntime"},
                                                     {"version", runtime->version()},
                                                     {"library", core::base_name(runtime->library_path())},
                                                     {"provider", plan.backend.provider}})
                                           .set_if("requested_provider", asked == plan.backend.provider ? Json() : Json(asked))},
                           {"opset", before.opsets.contains("") ? Json(before.opsets.at("")) : Json()},
                           {"nodes", nodes},
                           {"level", level},
                           {"levels", std::move(levels)},
                           {"fused", lists.fused},
                           {"inserted", lists.inserted},
                           {"not_fused", times ? with_times(std::move(not_fused), lists.nodes) : std::move(not_fused)},
                           {"drawing", drawing_json(before, *chosen, times)},
                           {"compiler_nodes", lists.nodes}});
  if (times) out.set("timed", Json::object({{"calls", times->calls}, {"call_ns", times->call_ns}}));
  if (against.kind == Against::Kind::level) {
    AACO_ASSIGN(const auto other_times, measured(other->level));
    const Lists there = lists_of(before, *other, {}, other_times);
    out.set("against", compare_fused({"level", level, lists.fused, lists.nodes, call_of(times)},
                                     {"level", other->level, there.fused, there.nodes, call_of(other_times)}));
  } else if (against.kind == Against::Kind::library) {
    AACO_ASSIGN(const Json there, inspect_with_library(request, against.name, services));
    out.set("against", compare_fused(library_side(out), library_side(there)));
  } else if (against.kind == Against::Kind::backend) {
    AACO_ASSIGN(Json there, place_on_backend(request, before, rules, against.name, services));
    if (request.timed) AACO_TRY(set_backend_seams(there, before, request, against.name, place.path, services));
    out.set("against", std::move(there));
  } else if (against.kind == Against::Kind::provider) {
    AACO_ASSIGN(const auto support, graph::load_backend_support(against.path));
    graph::Graph sized = before;  // the sizes of copies; where they cannot be had, copies have none
    if (graph::bind_dimensions(sized, request.run.dimensions)) graph::infer_shapes(sized);
    out.set("against", provider_json(sized, support, rules));
  }
  if (!request.folder.empty()) {
    AACO_TRY(write_compiler_nodes(out["compiler_nodes"], place.path));
    AACO_TRY(core::write_file_atomic(core::join_path(place.path, "compiler.json"), out.dump() + "\n"));
  }
  return out;
}

}  // namespace aaco::workflows
