#include "graph/condition.h"

namespace aaco::graph {

void rename_captured(Graph& body, const std::string& from, const std::string& to) {
  for (Graph& inner : body.subgraphs) {
    for (const TensorId id : inner.captured)
      if (inner.tensor(id).name == from) inner.tensor(id).name = to;
    rename_captured(inner, from, to);
  }
}

bool make_condition(Graph& graph, Node& node, const std::vector<SubgraphId>& bodies) {
  for (const SubgraphId id : bodies) {
    Graph& body = graph.subgraphs[static_cast<std::size_t>(id.value)];
    if (node.inputs.size() < body.inputs.size() + 1) return false;
    for (std::size_t number = 0; number < body.inputs.size(); ++number) {
      const TensorId given = node.inputs[number + 1];
      if (!given.valid()) continue;
      std::string& own = body.tensor(body.inputs[number]).name;
      rename_captured(body, own, graph.tensor(given).name);
      own = graph.tensor(given).name;
      body.captured.push_back(body.inputs[number]);
    }
    body.inputs.clear();
  }
  node.op_type = "If";
  node.domain.clear();
  node.inputs.resize(1);
  node.attributes = {{"then_branch", std::vector<SubgraphId>{bodies[0]}}, {"else_branch", std::vector<SubgraphId>{bodies[1]}}};
  return true;
}

}  // namespace aaco::graph
