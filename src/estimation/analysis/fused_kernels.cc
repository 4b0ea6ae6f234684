#include "estimation/analysis/fused_kernels.h"

namespace aaco::estimation {
namespace {

using graph::Node;
using graph::NodeCost;

// More work first; of equal work (a copy fused with a copy) the earlier.
bool heavier(const NodeCost& a, const NodeCost& b) {
  if (a.flops != b.flops) return a.flops > b.flops;
  return a.bytes_read + a.bytes_written > b.bytes_read + b.bytes_written;
}

}  // namespace

FusedKernels fused_kernels(const graph::Graph& graph, const graph::GraphCost& cost, const graph::Fusion& fusion) {
  std::map<const Node*, const NodeCost*> costs;
  for (const graph::CostedNode& costed : cost.nodes) costs.emplace(costed.node, &costed.cost);
  FusedKernels out;
  for (const graph::FusedGroup& group : fusion.groups) {
    const Node* main = nullptr;
    for (const std::size_t index : group.nodes) {
      const Node* node = &graph.nodes.at(index);
      if (!costs.contains(node) || !costs.at(node)->known) continue;
      if (main == nullptr || heavier(*costs.at(node), *costs.at(main))) main = node;
    }
    if (main == nullptr) continue;  // nothing of it is modelled
    FusedKernels::Kernel& kernel = out.by_main[main];
    kernel.bytes -= group.saved_bytes;
    for (const std::size_t index : group.nodes) {
      const Node* node = &graph.nodes[index];
      if (node == main || !costs.contains(node)) continue;
      kernel.op_types.push_back(node->op_type);
      kernel.flops += costs.at(node)->flops;
      kernel.bytes += costs.at(node)->bytes_read + costs.at(node)->bytes_written;
      out.gone.insert(node);
    }
  }
  return out;
}

}  // namespace aaco::estimation
