#include "workflows/compiler.h"

#include <optional>

#include "core/files.h"
#include "graph/shapes.h"
#include "graph/support.h"
#include "workflows/compiler/against.h"
#include "workflows/compiler/backend_seams.h"
#include "workflows/compiler/compare_documents.h"
#include "workflows/compiler/drawing.h"
#include "workflows/compiler/inspection.h"

namespace aaco::workflows {
namespace {

using core::Json;

// The graph at the level that is looked at and at the one that it is compared with, and the counts of all.
struct Levels {
  CompiledGraph chosen;
  std::optional<CompiledGraph> other;
  Json counts = Json::array();
};

core::Result<Levels> compile_levels(Inspection& inspection, const Against& against, const Services& services) {
  Levels out;
  const std::string& level = inspection.request.run.graph_level;
  for (const char* one : analytics::compiler::kLevels) {
    const bool compared = against.kind == Against::Kind::level && one == against.name;
    if (one != level && !compared && !inspection.request.every_level) continue;
    services.progress("optimising the graph at level " + std::string(one));
    AACO_ASSIGN(CompiledGraph compiled, compile_writable(inspection, one));
    out.counts.push(level_json(compiled));
    if (compared) out.other = compiled;
    if (one == level) out.chosen = std::move(compiled);
  }
  return out;
}

Json runtime_json(const Inspection& inspection) {
  const std::string& shown = inspection.plan.backend.provider;
  Json out = Json::object({{"name", "onnxruntime"},
                           {"version", inspection.runtime->version()},
                           {"library", core::base_name(inspection.runtime->library_path())},
                           {"provider", shown}});
  if (inspection.asked != shown) out.set("requested_provider", inspection.asked);
  if (inspection.absent) out.set("provider_absent", true);
  return out;
}

std::size_t count_nodes(const graph::Graph& before, const CompiledGraph& compiled) {
  std::size_t nodes = 0;
  visit_graphs(before, compiled, [&](const graph::Graph& one, const CompiledGraph&) { nodes += one.nodes.size(); });
  return nodes;
}

Json document_of(const Inspection& inspection, Levels& levels, const LevelLists& lists) {
  const graph::Graph& before = inspection.before;
  Json sizes = Json::object();
  for (const auto& [symbol, size] : inspection.plan.backend.free_dimensions) sizes.set(symbol, size);
  Json out = Json::object({{"schema_version", 1},
                           {"model", inspection.plan.model_name},
                           {"runtime", runtime_json(inspection)},
                           {"opset", before.opsets.contains("") ? Json(before.opsets.at("")) : Json()},
                           {"nodes", count_nodes(before, levels.chosen)},
                           {"level", levels.chosen.level},
                           {"levels", std::move(levels.counts)},
                           {"fused", lists.fused},
                           {"inserted", lists.inserted},
                           {"not_fused", lists.not_fused},
                           {"drawing", drawing_json(before, levels.chosen, lists.times)},
                           {"compiler_nodes", lists.nodes}});
  if (lists.times) out.set("timed", Json::object({{"calls", lists.times->calls}, {"call_ns", lists.times->call_ns}}));
  if (!sizes.members().empty()) out.set("fixed_dimensions", std::move(sizes));
  return out;
}

core::Result<Json> inspect_other_model(const CompilerRequest& request, const std::string& model, const Services& services) {
  CompilerRequest other = request;
  other.run.model = model;
  other.against.clear();
  other.folder.clear();
  other.every_level = false;
  services.progress("optimising the graph of " + model);
  auto document = inspect_compiler(other, services);
  if (!document) document.error().message = "--against: " + document.error().message;
  return document;
}

// What `against` of the document is; null without a comparison.
core::Result<Json> compared(const Inspection& inspection, const Against& against, const Levels& levels, const LevelLists& lists,
                            const Json& document, const Services& services) {
  const CompilerRequest& request = inspection.request;
  switch (against.kind) {
    case Against::Kind::nothing: return Json();
    case Against::Kind::level: {
      AACO_ASSIGN(const LevelLists other, lists_of(inspection, *levels.other, services));
      return compare_fused(level_side(levels.chosen.level, lists), level_side(levels.other->level, other));
    }
    case Against::Kind::library: {
      AACO_ASSIGN(const Json there, inspect_with_library(request, against.name, services));
      return compare_fused(library_side(document), library_side(there));
    }
    case Against::Kind::model: {
      AACO_ASSIGN(const Json there, inspect_other_model(request, against.name, services));
      return compare_documents(document, there);
    }
    case Against::Kind::backend: {
      AACO_ASSIGN(Json there, place_on_backend(request, inspection.before, inspection.rules, against.name, services));
      if (request.timed)
        AACO_TRY(set_backend_seams(there, inspection.before, request, against.name, inspection.folder, services));
      return there;
    }
    case Against::Kind::provider: {
      AACO_ASSIGN(const auto support, graph::load_backend_support(against.path));
      graph::Graph sized = inspection.before;  // the sizes of copies; where they cannot be had, copies have none
      if (graph::bind_dimensions(sized, {})) graph::infer_shapes(sized);
      return provider_json(sized, support, inspection.rules);
    }
  }
  return Json();
}

}  // namespace

core::Result<Json> inspect_compiler(const CompilerRequest& request, const Services& services) {
  AACO_ASSIGN(Against against, resolve_against(request.against, services));
  AACO_ASSIGN(Inspection inspection, open_inspection(request, services));
  const bool is_built = is_built_backend(request.run.backend, services);
  if (against.kind == Against::Kind::nothing && is_built)
    against = {Against::Kind::backend, request.run.backend, {}};  // it is asked what it left to the CPU
  AACO_ASSIGN(Levels levels, compile_levels(inspection, against, services));
  AACO_ASSIGN(const LevelLists lists, lists_of(inspection, levels.chosen, services));
  Json out = document_of(inspection, levels, lists);
  if (against.kind == Against::Kind::model && is_built) {
    AACO_ASSIGN(Json placement,
                place_on_backend(inspection.request, inspection.before, inspection.rules, request.run.backend, services));
    out.set("placement", std::move(placement));
  }
  AACO_ASSIGN(Json there, compared(inspection, against, levels, lists, out, services));
  if (!there.is_null()) out.set("against", std::move(there));
  if (!request.folder.empty()) {
    AACO_TRY(write_compiler_nodes(out["compiler_nodes"], inspection.folder));
    AACO_TRY(core::write_file_atomic(core::join_path(inspection.folder, "compiler.json"), out.dump() + "\n"));
  }
  return out;
}

}  // namespace aaco::workflows
