#include "workflows/compiler/compiled_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/files.h"
#include "core/numbers.h"
#include "graph/onnx.h"
#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

using analytics::compiler::Fate;
using analytics::compiler::node_name;
using core::Json;

Json names_of(const graph::Graph& graph, const std::vector<std::size_t>& nodes) {
  Json names = Json::array();
  for (const std::size_t node : nodes) names.push(node_name(graph, node));
  return names;
}

Json within_of(const CompiledGraph& compiled) { return compiled.within.empty() ? Json() : Json(compiled.within); }

Json part_of(const graph::Graph& before, const CompiledGraph& compiled, std::size_t kernel) {
  const auto& node = compiled.diff.kernels[kernel].part_of;
  return node ? Json(node_name(before, *node)) : Json();
}

// A body with the constants that it reads from `outer` as its own: the optimiser sees them as such, too.
graph::Graph body_of(const graph::Graph& outer, graph::SubgraphId id) {
  graph::Graph body = outer.subgraph(id);
  body.opsets = outer.opsets;
  std::map<std::string_view, const graph::Initializer*> constants;
  for (const auto& one : outer.initializers)
    if (std::find(outer.overridable.begin(), outer.overridable.end(), one.tensor) == outer.overridable.end())
      constants[outer.tensor(one.tensor).name] = &one;
  for (const graph::TensorId captured : body.captured)
    if (const auto found = constants.find(body.tensor(captured).name); found != constants.end()) {
      body.tensor(captured) = outer.tensor(found->second->tensor);
      body.initializers.push_back({captured, found->second->constant});
    }
  return body;
}

// Of the nodes that are still there.
std::vector<CompiledGraph> bodies_of(const graph::Graph& before, const CompiledGraph& compiled) {
  std::vector<CompiledGraph> bodies;
  for (std::size_t number = 0; number < before.nodes.size(); ++number) {
    const auto& kernel = compiled.diff.nodes[number].kernel;
    if (!kernel || compiled.after.nodes[*kernel].op_type != before.nodes[number].op_type) continue;
    for (const graph::Attribute& one : before.nodes[number].attributes) {
      const auto* mine = std::get_if<std::vector<graph::SubgraphId>>(&one.value);
      const auto* value = mine == nullptr ? nullptr : compiled.after.nodes[*kernel].attribute(one.name);
      const auto* theirs = value == nullptr ? nullptr : std::get_if<std::vector<graph::SubgraphId>>(value);
      for (std::size_t i = 0; theirs != nullptr && i < std::min(mine->size(), theirs->size()); ++i) {
        CompiledGraph body{compiled.level, compiled.after.subgraph((*theirs)[i]), {}};
        body.within =
            one.name + " of '" + node_name(before, number) + "'" + (compiled.within.empty() ? "" : " in " + compiled.within);
        body.before = body_of(before, (*mine)[i]);
        body.diff = analytics::compiler::compare_graphs(body.before, body.after);
        body.bodies = bodies_of(body.before, body);
        bodies.push_back(std::move(body));
      }
    }
  }
  return bodies;
}

std::string column_value(const Json& value) {
  if (value.is_null()) return "NULL";
  if (value.is_number()) return value.dump(-1);
  std::string out = "'";
  for (const char c : value.text()) {
    if (c == '\'') out += '\'';
    if (c != '\0') out += c;
  }
  return out + "'";
}

}  // namespace

core::Result<CompiledGraph> compile_graph(runner::ort::Runtime& runtime, const RunPlan& plan, const graph::Graph& before,
                                          const std::string& level, const std::string& folder) {
  runner::BackendOptions options = plan.backend;
  options.graph_level = level;
  options.optimized_model_path = core::join_path(folder, "optimized_" + level + ".onnx");
  const auto backend = runtime.open_model(plan.model_path, options);
  if (!backend && backend.error().message.find("serialization failed") != std::string::npos) {
    const auto room = core::free_space(folder);
    return core::fail(core::ErrorCode::io, "ONNX Runtime could not write the optimised graph to " + folder,
                      room ? fmt::format("check the folder: {} are free", core::format_bytes(static_cast<double>(*room)))
                           : std::string("check the folder's free space and permissions"));
  }
  if (!backend) return tl::unexpected<core::Error>(backend.error());
  AACO_ASSIGN(graph::Graph after, graph::onnx::load(options.optimized_model_path));
  analytics::compiler::GraphDiff diff = analytics::compiler::compare_graphs(before, after);
  CompiledGraph compiled{level, std::move(after), std::move(diff)};
  compiled.bodies = bodies_of(before, compiled);
  return compiled;
}

Json level_json(const CompiledGraph& compiled) {
  std::map<Fate, std::int64_t> counts;
  std::size_t kernels = 0, inserted = 0;
  visit_graphs({}, compiled, [&](const graph::Graph&, const CompiledGraph& one) {
    for (const auto& node : one.diff.nodes) ++counts[node.fate];
    for (const auto& kernel : one.diff.kernels) inserted += kernel.inserted.empty() ? 0 : 1;
    kernels += one.after.nodes.size();
  });
  Json out = Json::object({{"level", compiled.level}, {"kernels", kernels}});
  for (const Fate fate : {Fate::kept, Fate::rewritten, Fate::fused, Fate::folded, Fate::removed})
    out.set(analytics::compiler::to_string(fate), counts[fate]);
  return out.set("inserted", inserted);
}

Json fused_json(const graph::Graph& outermost, const CompiledGraph& whole) {
  Json out = Json::array();
  visit_graphs(outermost, whole, [&](const graph::Graph& before, const CompiledGraph& compiled) {
    for (std::size_t kernel = 0; kernel < compiled.diff.kernels.size(); ++kernel) {
      const auto& made = compiled.diff.kernels[kernel];
      if (made.nodes.size() < 2) continue;
      std::string pattern;
      for (const std::size_t node : made.nodes) pattern += (pattern.empty() ? "" : "+") + before.nodes[node].qualified_type();
      out.push(Json::object({{"kernel", node_name(compiled.after, kernel)},
                             {"op_type", compiled.after.nodes[kernel].qualified_type()},
                             {"pattern", pattern},
                             {"nodes", names_of(before, made.nodes)}})
                   .set_if("within", within_of(compiled))
                   .set_if("precision", made.precision.empty() ? Json() : Json(made.precision)));
    }
  });
  return out;
}

Json inserted_json(const graph::Graph& outermost, const CompiledGraph& whole) {
  Json out = Json::array();
  visit_graphs(outermost, whole, [&](const graph::Graph& before, const CompiledGraph& compiled) {
    for (std::size_t kernel = 0; kernel < compiled.diff.kernels.size(); ++kernel)
      if (const std::string& kind = compiled.diff.kernels[kernel].inserted; !kind.empty())
        out.push(Json::object({{"kernel", node_name(compiled.after, kernel)},
                               {"op_type", compiled.after.nodes[kernel].qualified_type()},
                               {"kind", kind}})
                     .set_if("part_of", part_of(before, compiled, kernel))
                     .set_if("within", within_of(compiled)));
  });
  return out;
}

namespace {

void add_rows(const graph::Graph& before, const CompiledGraph& compiled, const std::vector<graph::NearMiss>& missed, Json& rows) {
  std::map<std::size_t, const graph::NearMiss*> reasons;
  for (const graph::NearMiss& miss : missed) {
    reasons.try_emplace(miss.second, &miss);
    reasons.try_emplace(miss.first, &miss);
  }
  for (std::size_t node = 0; node < before.nodes.size(); ++node) {
    const auto& fate = compiled.diff.nodes[node];
    Json row = Json::object({{"level", compiled.level},
                             {"node", node_name(before, node)},
                             {"op_type", before.nodes[node].qualified_type()},
                             {"fate", analytics::compiler::to_string(fate.fate)}});
    row.set_if("within", within_of(compiled));
    if (fate.kernel)
      row.set("kernel", node_name(compiled.after, *fate.kernel))
          .set("kernel_op_type", compiled.after.nodes[*fate.kernel].qualified_type());
    if (const auto found = reasons.find(node); found != reasons.end())
      row.set("reason", found->second->reason).set("condition", found->second->condition);
    rows.push(std::move(row));
  }
  for (std::size_t kernel = 0; kernel < compiled.diff.kernels.size(); ++kernel)
    if (const std::string& kind = compiled.diff.kernels[kernel].inserted; !kind.empty())
      rows.push(Json::object({{"level", compiled.level},
                              {"fate", "inserted"},
                              {"kernel", node_name(compiled.after, kernel)},
                              {"kernel_op_type", compiled.after.nodes[kernel].qualified_type()},
                              {"condition", kind}})
                    .set_if("within", within_of(compiled)));
}

}  // namespace

Json nodes_json(const graph::Graph& outermost, const CompiledGraph& whole,
                const std::map<std::string, std::vector<graph::NearMiss>>& missed) {
  Json rows = Json::array();
  visit_graphs(outermost, whole, [&](const graph::Graph& before, const CompiledGraph& compiled) {
    const auto found = missed.find(compiled.within);
    add_rows(before, compiled, found == missed.end() ? std::vector<graph::NearMiss>() : found->second, rows);
  });
  return rows;
}

core::Status write_compiler_nodes(const Json& rows, const std::string& folder) {
  static constexpr const char* kColumns[] = {"level",          "node",   "op_type",   "fate",    "kernel",
                                             "kernel_op_type", "reason", "condition", "time_ns", "within"};
  std::string values, selected, names;
  for (const char* column : kColumns) {
    const bool number = std::string_view(column) == "time_ns";
    selected +=
        fmt::format("{}CAST({} AS {}) AS {}", selected.empty() ? "" : ", ", column, number ? "DOUBLE" : "VARCHAR", column);
    names += (names.empty() ? "" : ", ") + std::string(column);
  }
  for (const Json& row : rows.items()) {
    std::string cells;
    for (const char* column : kColumns) cells += (cells.empty() ? "" : ", ") + column_value(row[column]);
    values += (values.empty() ? "(" : ", (") + cells + ")";
  }
  if (values.empty()) return {};
  AACO_ASSIGN(const auto lake, tracelake::Lake::open(folder));
  return lake->query_to_parquet(fmt::format("SELECT {} FROM (VALUES {}) AS t({})", selected, values, names),
                                core::join_path(folder, "compiler_nodes.parquet"));
}

}  // namespace aaco::workflows
