#include "estimation/decoder_graph/graph_paths.h"

#include <algorithm>

namespace aaco::estimation {

using graph::TensorId;

GraphPaths::GraphPaths(const graph::Graph& graph) : graph_(graph), costs_(graph.nodes.size()) {
  for (const graph::CostedNode& costed : graph::cost_of(graph).nodes)
    if (costed.graph == &graph) costs_[static_cast<std::size_t>(costed.node - graph.nodes.data())] = costed.cost;
  for (const graph::Initializer& one : graph.initializers) constants_.insert(one.tensor);
  for (std::size_t number = 0; number < graph.nodes.size(); ++number) {
    const graph::Node& node = graph.nodes[number];
    bool constant = true;
    for (const TensorId id : node.inputs) {
      if (!id.valid()) continue;
      consumers_[id].push_back(number);
      constant &= constants_.contains(id);
    }
    for (const TensorId id : node.outputs) {
      if (!id.valid()) continue;
      producers_.emplace(id, number);
      if (constant) constants_.insert(id);
    }
  }
}

const graph::GemmSite* GraphPaths::weighted(std::size_t node) const {
  const auto* site = std::get_if<graph::GemmSite>(&costs_[node].site);
  return site != nullptr && site->weights ? site : nullptr;
}

const std::size_t* GraphPaths::producer(TensorId tensor) const {
  const auto found = producers_.find(tensor);
  return found == producers_.end() ? nullptr : &found->second;
}

const std::vector<std::size_t>& GraphPaths::consumers(TensorId tensor) const {
  static const std::vector<std::size_t> kNone;
  const auto found = consumers_.find(tensor);
  return found == consumers_.end() ? kNone : found->second;
}

std::set<std::size_t> GraphPaths::nearest(TensorId tensor, bool before) const {
  std::set<std::size_t> found;
  std::set<TensorId> seen;
  std::vector<TensorId> open{tensor};
  const auto visit = [&](std::size_t number) {
    if (weighted(number) != nullptr) {
      found.insert(number);
      return;
    }
    const graph::Node& node = graph_.nodes[number];
    for (const TensorId next : before ? node.inputs : node.outputs)
      if (next.valid()) open.push_back(next);
  };
  while (!open.empty()) {
    const TensorId at = open.back();
    open.pop_back();
    if (!seen.insert(at).second || is_constant(at)) continue;
    if (!before) {
      for (const std::size_t number : consumers(at)) visit(number);
    } else if (const std::size_t* made_by = producer(at)) {
      visit(*made_by);
    }
  }
  return found;
}

std::set<TensorId> GraphPaths::stored(TensorId constant) const {
  std::set<TensorId> found;
  std::vector<TensorId> open{constant};
  while (!open.empty()) {
    const TensorId at = open.back();
    open.pop_back();
    if (!at.valid() || !is_constant(at)) continue;
    if (const std::size_t* made_by = producer(at)) {
      const auto& inputs = graph_.nodes[*made_by].inputs;
      open.insert(open.end(), inputs.begin(), inputs.end());
    } else {
      found.insert(at);
    }
  }
  return found;
}

std::vector<std::int64_t> GraphPaths::sizes(TensorId tensor) const {
  std::vector<std::int64_t> sizes;
  if (!tensor.valid()) return sizes;
  const auto& shape = graph_.tensor(tensor).shape;
  if (!shape || !std::all_of(shape->begin(), shape->end(), [](const graph::Dimension& one) { return one.fixed(); })) return sizes;
  for (const graph::Dimension& one : *shape) sizes.push_back(one.size);
  return sizes;
}

}  // namespace aaco::estimation
