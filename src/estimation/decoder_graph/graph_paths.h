#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "graph/cost.h"
#include "graph/graph.h"

namespace aaco::estimation {

// Who makes and who reads the tensors of the outermost graph, and its products with weights.
class GraphPaths {
 public:
  explicit GraphPaths(const graph::Graph& graph);

  [[nodiscard]] const graph::Graph& graph() const { return graph_; }
  [[nodiscard]] const graph::NodeCost& cost(std::size_t node) const { return costs_[node]; }
  // Of a product with weights; null: another node.
  [[nodiscard]] const graph::GemmSite* weighted(std::size_t node) const;
  // The nearest products with weights that the tensor is computed from, or that read what is computed from it.
  [[nodiscard]] std::set<std::size_t> weighted_before(graph::TensorId tensor) const { return nearest(tensor, true); }
  [[nodiscard]] std::set<std::size_t> weighted_after(graph::TensorId tensor) const { return nearest(tensor, false); }
  [[nodiscard]] const std::size_t* producer(graph::TensorId tensor) const;
  [[nodiscard]] const std::vector<std::size_t>& consumers(graph::TensorId tensor) const;
  // The stored constants that a constant is computed from (dequantised, transposed).
  [[nodiscard]] std::set<graph::TensorId> stored(graph::TensorId constant) const;
  [[nodiscard]] bool is_constant(graph::TensorId tensor) const { return constants_.contains(tensor); }
  // Its sizes; empty where one is not known.
  [[nodiscard]] std::vector<std::int64_t> sizes(graph::TensorId tensor) const;

 private:
  [[nodiscard]] std::set<std::size_t> nearest(graph::TensorId tensor, bool before) const;

  const graph::Graph& graph_;
  std::vector<graph::NodeCost> costs_;  // by node
  std::map<graph::TensorId, std::size_t> producers_;
  std::map<graph::TensorId, std::vector<std::size_t>> consumers_;
  std::set<graph::TensorId> constants_;
};

}  // namespace aaco::estimation
