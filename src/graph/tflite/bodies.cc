#include "graph/tflite/bodies.h"

#include <algorithm>

#include "graph/condition.h"

namespace aaco::graph::tflite {
namespace {

constexpr std::int32_t kNone = -1;

void renumber(Node& node, const std::vector<std::int32_t>& places, std::size_t subgraphs) {
  for (auto* list : {&node.inputs, &node.outputs})
    for (TensorId& id : *list)
      if (id.valid()) id = TensorId{places[index_of(id)]};
  for (Attribute& attribute : node.attributes)
    if (auto* bodies = std::get_if<std::vector<SubgraphId>>(&attribute.value))
      for (SubgraphId& body : *bodies) body.value += static_cast<std::int32_t>(subgraphs);
}

}  // namespace

bool put_in(Graph& graph, const Node& node, Graph body) {
  if (node.inputs.size() < body.inputs.size() || node.outputs.size() > body.outputs.size()) return false;
  std::vector<std::int32_t> places(body.tensors.size(), kNone);
  const auto join = [&](TensorId inside, TensorId outside) {
    if (!outside.valid() || places[index_of(inside)] != kNone) return;
    places[index_of(inside)] = outside.value;
    rename_captured(body, body.tensor(inside).name, graph.tensor(outside).name);
  };
  for (std::size_t number = 0; number < body.inputs.size(); ++number) join(body.inputs[number], node.inputs[number]);
  std::vector<std::pair<TensorId, TensorId>> handed_on;  // outputs that are inputs, constants or given out twice
  std::vector<bool> made(body.tensors.size(), false);
  for (const Node& inner : body.nodes)
    for (const TensorId id : inner.outputs)
      if (id.valid()) made[index_of(id)] = true;
  for (std::size_t number = 0; number < node.outputs.size(); ++number) {
    if (!node.outputs[number].valid()) continue;
    const TensorId inside = body.outputs[number];
    if (places[index_of(inside)] == kNone && made[index_of(inside)])
      join(inside, node.outputs[number]);
    else
      handed_on.emplace_back(inside, node.outputs[number]);
  }
  for (std::size_t number = 0; number < places.size(); ++number)
    if (places[number] == kNone) places[number] = graph.add_tensor(std::move(body.tensors[number])).value;
  for (Initializer& initializer : body.initializers)
    graph.initializers.push_back({TensorId{places[index_of(initializer.tensor)]}, std::move(initializer.constant)});
  for (Node& inner : body.nodes) {
    renumber(inner, places, graph.subgraphs.size());
    graph.nodes.push_back(std::move(inner));
  }
  for (const auto& [inside, outside] : handed_on)
    graph.nodes.push_back({graph.tensor(outside).name, "Identity", "", {TensorId{places[index_of(inside)]}}, {outside}, {}});
  std::move(body.subgraphs.begin(), body.subgraphs.end(), std::back_inserter(graph.subgraphs));
  return true;
}

}  // namespace aaco::graph::tflite
