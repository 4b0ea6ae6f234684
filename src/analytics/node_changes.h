#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/node_time.h"
#include "trace/names.h"

namespace aaco::analytics::metrics {

// `unclear`: the intervals of both sides overlap, or a side has one profiled iteration only.
enum class NodeChangeKind : std::uint8_t { same, slower, faster, unclear, appeared, gone };
std::string_view to_string(NodeChangeKind kind);

struct NodeOfSide {
  std::string op_type, provider;
  double executions = 0;  // per iteration; 0: this side lacks the node
  double time_ns = 0;     // its share of an iteration (NodeShare::time)
};

struct NodeChange {
  std::string name;         // a's where b lacks the node
  std::string former_name;  // a's, where a renamed node was matched
  NodeOfSide a, b;
  double delta_ns = 0;  // b - a
  NodeChangeKind kind = NodeChangeKind::unclear;
};

// Nodes of two profiled runs, matched by name and then by type and shapes in graph order. The nodes' differences and the two
// below add up to delta_ns, to within concurrent nodes' rounding.
struct NodeChanges {
  std::vector<NodeChange> nodes;  // largest |delta_ns| first
  double delta_ns = 0;            // of a profiled iteration: b - a
  double between_nodes_ns = 0;    // of it, gaps between nodes
  double around_nodes_ns = 0;     // of it, before the first and after the last node
};

// Each with the names that its ids are of. Both must have `parts`. Changes below `threshold_ratio` of a's time are `same`.
NodeChanges compare_nodes(const NodeTime& a, const trace::NameTable& names_a, const NodeTime& b, const trace::NameTable& names_b,
                          double threshold_ratio = 0.02);

}  // namespace aaco::analytics::metrics
