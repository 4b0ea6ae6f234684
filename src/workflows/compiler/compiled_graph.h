#pragma once

#include <map>
#include <string>
#include <vector>

#include "analytics/compiler_diff.h"
#include "core/json.h"
#include "core/result.h"
#include "graph/graph.h"
#include "runner/ort_runtime.h"
#include "workflows/run/run_plan.h"

namespace aaco::workflows {

// A graph as the runtime executes it at one level.
struct CompiledGraph {
  std::string level;
  graph::Graph after;
  analytics::compiler::GraphDiff diff;
  std::string within = {};                 // of a body: "then_branch of 'choose'"; empty: the outermost graph
  graph::Graph before = {};                // of a body, with the constants that it reads from outside as its own
  std::vector<CompiledGraph> bodies = {};  // of nodes that are still there: If, Loop, Scan
};
// Calls `visit(before, compiled)` for the graph and all bodies in it.
template <class Visit>
void visit_graphs(const graph::Graph& before, const CompiledGraph& compiled, const Visit& visit) {
  visit(before, compiled);
  for (const CompiledGraph& body : compiled.bodies) visit_graphs(body.before, body, visit);
}

// Loads the model at `level` and reads the graph that the runtime writes to `folder`.
core::Result<CompiledGraph> compile_graph(runner::ort::Runtime& runtime, const RunPlan& plan, const graph::Graph& before,
                                          const std::string& level, const std::string& folder);

// Counts of a level, bodies included: kernels and what became of the nodes.
core::Json level_json(const CompiledGraph& compiled);
// The kernels of several nodes.
core::Json fused_json(const graph::Graph& before, const CompiledGraph& compiled);
// What the compiler put in.
core::Json inserted_json(const graph::Graph& before, const CompiledGraph& compiled);
// A row per node of the model and per inserted node: the table compiler_nodes. `missed`: by `within` of the graph.
core::Json nodes_json(const graph::Graph& before, const CompiledGraph& compiled,
                      const std::map<std::string, std::vector<graph::NearMiss>>& missed);
core::Status write_compiler_nodes(const core::Json& rows, const std::string& folder);

}  // namespace aaco::workflows
