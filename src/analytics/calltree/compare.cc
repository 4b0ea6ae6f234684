#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "analytics/call_tree.h"

namespace aaco::analytics::calltree {
namespace {

struct Pair {
  std::optional<std::size_t> a, b;  // nodes of the trees
};

class Comparison {
 public:
  Comparison(const Tree& a, double steps_a, const Tree& b, double steps_b)
      : a_(a), b_(b), steps_a_(std::max(1.0, steps_a)), steps_b_(std::max(1.0, steps_b)) {}

  std::vector<DiffNode> run() {
    visit({a_.nodes.empty() ? std::nullopt : std::optional<std::size_t>(0),
           b_.nodes.empty() ? std::nullopt : std::optional<std::size_t>(0)},
          0);
    return std::move(out_);
  }

 private:
  static Side side_of(const Tree& tree, std::optional<std::size_t> index, double steps) {
    if (!index) return {};
    const Node& node = tree.nodes[*index];
    return {static_cast<double>(node.calls) / steps, static_cast<double>(node.host_ns) / steps,
            static_cast<double>(node.device_ns) / steps};
  }
  DiffNode node_of(const Pair& pair, std::size_t depth) const {
    const Node& named = pair.a ? a_.nodes[*pair.a] : b_.nodes[*pair.b];
    DiffNode node{named.name, named.kernel, depth, side_of(a_, pair.a, steps_a_), side_of(b_, pair.b, steps_b_), 0, 0};
    node.device_delta_ns = node.b.device_ns - node.a.device_ns;
    node.host_delta_ns = node.b.host_ns - node.a.host_ns;
    return node;
  }

  // The builder limits the depth.
  void visit(const Pair& pair, std::size_t depth) {
    if (!pair.a && !pair.b) return;
    out_.push_back(node_of(pair, depth));
    std::map<std::pair<bool, std::string_view>, Pair> children;
    if (pair.a)
      for (const std::size_t each : a_.nodes[*pair.a].children) children[{a_.nodes[each].kernel, a_.nodes[each].name}].a = each;
    if (pair.b)
      for (const std::size_t each : b_.nodes[*pair.b].children) children[{b_.nodes[each].kernel, b_.nodes[each].name}].b = each;
    std::vector<std::pair<DiffNode, Pair>> ordered;
    for (const auto& [name, child] : children) ordered.emplace_back(node_of(child, depth + 1), child);
    const auto size = [](const DiffNode& node) {
      return std::tuple(std::abs(node.device_delta_ns), std::abs(node.host_delta_ns), node.a.device_ns + node.b.device_ns);
    };
    std::stable_sort(ordered.begin(), ordered.end(), [&](const auto& x, const auto& y) { return size(x.first) > size(y.first); });
    for (const auto& [node, child] : ordered) visit(child, depth + 1);
  }

  const Tree &a_, &b_;
  double steps_a_, steps_b_;
  std::vector<DiffNode> out_;
};

}  // namespace

std::vector<DiffNode> compare(const Tree& a, double steps_a, const Tree& b, double steps_b) {
  return Comparison(a, steps_a, b, steps_b).run();
}

}  // namespace aaco::analytics::calltree
