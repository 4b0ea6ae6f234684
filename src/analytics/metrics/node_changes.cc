#include "analytics/node_changes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <tuple>

namespace aaco::analytics::metrics {
namespace {

struct Matched {
  const NodeShare* a = nullptr;
  const NodeShare* b = nullptr;
};

using Shape = std::tuple<std::string, std::string, std::string>;  // type, shapes of inputs and outputs

std::string text_of(const trace::NameTable& names, trace::NameId id) { return std::string(names.text(id)); }

Shape shape_of(const NodeShare& node, const trace::NameTable& names) {
  return {text_of(names, node.op_type), text_of(names, node.input_shapes), text_of(names, node.output_shapes)};
}

std::vector<const NodeShare*> in_graph_order(const NodeTime& time) {
  std::vector<const NodeShare*> nodes;
  nodes.reserve(time.nodes.size());
  for (const NodeShare& node : time.nodes) nodes.push_back(&node);
  std::stable_sort(nodes.begin(), nodes.end(), [](const auto* x, const auto* y) { return x->node_index < y->node_index; });
  return nodes;
}

// A node that a compiler renamed has the type and shapes of its like on the other side.
std::vector<Matched> match(const NodeTime& a, const trace::NameTable& names_a, const NodeTime& b,
                           const trace::NameTable& names_b) {
  std::map<std::string, std::deque<const NodeShare*>> by_name;
  for (const NodeShare* node : in_graph_order(b)) by_name[text_of(names_b, node->node_name)].push_back(node);
  std::vector<Matched> matched;
  std::vector<const NodeShare*> alone;
  for (const NodeShare* node : in_graph_order(a)) {
    auto& same = by_name[text_of(names_a, node->node_name)];
    if (same.empty()) {
      alone.push_back(node);
      continue;
    }
    matched.push_back({node, same.front()});
    same.pop_front();
  }
  std::vector<const NodeShare*> left;
  for (auto& [name, nodes] : by_name) left.insert(left.end(), nodes.begin(), nodes.end());
  std::stable_sort(left.begin(), left.end(), [](const auto* x, const auto* y) { return x->node_index < y->node_index; });
  std::map<Shape, std::deque<const NodeShare*>> by_shape;
  for (const NodeShare* node : left) by_shape[shape_of(*node, names_b)].push_back(node);
  for (const NodeShare* node : alone) {
    auto& same = by_shape[shape_of(*node, names_a)];
    matched.push_back({node, same.empty() ? nullptr : same.front()});
    if (!same.empty()) same.pop_front();
  }
  for (const auto& [shape, nodes] : by_shape)
    for (const NodeShare* node : nodes) matched.push_back({nullptr, node});
  return matched;
}

NodeOfSide side_of(const NodeShare* node, const trace::NameTable& names) {
  if (node == nullptr) return {};
  return {text_of(names, node->op_type), text_of(names, node->provider), node->executions, node->time.mean_ns};
}

NodeChangeKind kind_of(const Matched& of, double threshold_ratio) {
  if (of.a == nullptr) return NodeChangeKind::appeared;
  if (of.b == nullptr) return NodeChangeKind::gone;
  const IterationTime &a = of.a->time, &b = of.b->time;
  if (!a.ci95 || !b.ci95) return NodeChangeKind::unclear;
  if (a.ci95->low <= b.ci95->high && b.ci95->low <= a.ci95->high) {
    const bool narrow =
        std::max(std::abs(b.ci95->high - a.ci95->low), std::abs(a.ci95->high - b.ci95->low)) <= threshold_ratio * a.mean_ns;
    return narrow ? NodeChangeKind::same : NodeChangeKind::unclear;
  }
  if (std::abs(b.mean_ns - a.mean_ns) < threshold_ratio * a.mean_ns) return NodeChangeKind::same;
  return b.mean_ns > a.mean_ns ? NodeChangeKind::slower : NodeChangeKind::faster;
}

}  // namespace

std::string_view to_string(NodeChangeKind kind) {
  constexpr std::array<std::string_view, 6> kNames = {"same", "slower", "faster", "unclear", "appeared", "gone"};
  return kNames[static_cast<std::size_t>(kind)];
}

NodeChanges compare_nodes(const NodeTime& a, const trace::NameTable& names_a, const NodeTime& b, const trace::NameTable& names_b,
                          double threshold_ratio) {
  NodeChanges changes;
  changes.delta_ns = b.parts->whole.mean_ns - a.parts->whole.mean_ns;
  changes.between_nodes_ns = b.parts->between_nodes.mean_ns - a.parts->between_nodes.mean_ns;
  changes.around_nodes_ns = b.parts->around_nodes.mean_ns - a.parts->around_nodes.mean_ns;
  for (const Matched& of : match(a, names_a, b, names_b)) {
    NodeChange change;
    if (of.a != nullptr) change.name = change.former_name = text_of(names_a, of.a->node_name);
    if (of.b != nullptr) change.name = text_of(names_b, of.b->node_name);
    if (change.name == change.former_name) change.former_name.clear();
    change.a = side_of(of.a, names_a);
    change.b = side_of(of.b, names_b);
    change.kind = kind_of(of, threshold_ratio);
    change.delta_ns = change.b.time_ns - change.a.time_ns;
    changes.nodes.push_back(std::move(change));
  }
  std::stable_sort(changes.nodes.begin(), changes.nodes.end(),
                   [](const auto& x, const auto& y) { return std::abs(x.delta_ns) > std::abs(y.delta_ns); });
  return changes;
}

}  // namespace aaco::analytics::metrics
