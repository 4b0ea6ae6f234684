#include "report/svg/time_tree.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace aaco::report {
namespace {

constexpr int kGrey = 7;

using Lists = std::map<std::string_view, std::vector<const TimeShare*>>;

TimeNode node_of(const TimeShare& share, int slot) { return TimeNode{share.name, share.total_ns, slot, {}}; }

void sort_children(TimeNode& node) {
  std::stable_sort(node.children.begin(), node.children.end(),
                   [](const TimeNode& a, const TimeNode& b) { return a.total_ns > b.total_ns; });
}

// Operator types by their time: the largest seven have a colour each.
std::map<std::string_view, int> slots_of(const std::vector<TimeShare>& operators) {
  std::vector<const TimeShare*> order;
  for (const TimeShare& share : operators) order.push_back(&share);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->total_ns > b->total_ns; });
  std::map<std::string_view, int> slots;
  for (const TimeShare* share : order) slots.try_emplace(share->name, std::min(kGrey, static_cast<int>(slots.size())));
  return slots;
}

std::string root_name(TimeWhole whole) {
  if (whole == TimeWhole::threads || whole == TimeWhole::active) return "all threads";
  return whole == TimeWhole::kernels ? "all kernels" : std::string(to_string(whole));
}

}  // namespace

TimeNode build_time_tree(const ReportModel& model) {
  Lists nodes, kernels;
  for (const TimeShare& node : model.nodes) nodes[node.parent.empty() ? node.group : node.parent].push_back(&node);
  for (const TimeShare& kernel : model.kernels)
    if (!kernel.parent.empty()) kernels[kernel.parent].push_back(&kernel);
  const auto slots = slots_of(model.operators);

  TimeNode root{root_name(model.time_whole), 0, kGrey, {}};
  for (const TimeShare& part : model.parts) {
    root.children.push_back(node_of(part, kGrey));
    for (const TimeShare* kernel : kernels[part.name]) root.children.back().children.push_back(node_of(*kernel, 0));
  }
  const bool parts = !root.children.empty();
  for (const TimeShare& share : model.operators) {
    TimeNode op = node_of(share, slots.at(share.name));
    for (const TimeShare* node : nodes[share.name]) {
      op.children.push_back(node_of(*node, op.slot));
      for (const TimeShare* kernel : kernels[node->name]) op.children.back().children.push_back(node_of(*kernel, op.slot));
      sort_children(op.children.back());
    }
    sort_children(op);
    auto home =
        std::find_if(root.children.begin(), root.children.end(), [&](const TimeNode& part) { return part.name == share.parent; });
    if (!parts)
      root.children.push_back(std::move(op));
    else
      (home == root.children.end() ? root.children.front() : *home).children.push_back(std::move(op));
  }
  if (!parts && model.operators.empty())
    for (const TimeShare& kernel : model.kernels) root.children.push_back(node_of(kernel, 0));
  for (TimeNode& child : root.children) {
    if (parts) sort_children(child);
    root.total_ns += child.total_ns;
  }
  if (!parts) sort_children(root);
  return root;
}

}  // namespace aaco::report
