#include <algorithm>
#include <set>

#include "graph/rewrite/clean.h"
#include "graph/rewrite/edit.h"

namespace aaco::graph::rewrite {

std::vector<std::size_t> find_dead_nodes(const Graph& graph) {
  Graph unchanged = graph;
  const Edit edit(unchanged);
  std::set<std::int64_t> needed;
  for (const TensorId id : graph.outputs) needed.insert(id.value);
  std::vector<std::size_t> dead;
  for (std::size_t at = graph.nodes.size(); at-- > 0;) {
    const Node& node = graph.nodes[at];
    const bool used = std::any_of(node.outputs.begin(), node.outputs.end(),
                                  [&](TensorId id) { return id.valid() && (needed.contains(id.value) || edit.captured(id)); });
    if (!used) {
      dead.push_back(at);
      continue;
    }
    for (const TensorId id : node.inputs) needed.insert(id.value);
  }
  std::reverse(dead.begin(), dead.end());
  return dead;
}

std::int64_t remove_dead_nodes(Graph& graph) {
  const auto dead = find_dead_nodes(graph);
  Edit edit(graph);
  for (const std::size_t at : dead) edit.remove(at);
  edit.finish();
  return static_cast<std::int64_t>(dead.size());
}

}  // namespace aaco::graph::rewrite
