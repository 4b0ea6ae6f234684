#include "graph/partition.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "graph/tensor_bytes.h"

namespace aaco::graph {
namespace {

std::vector<std::int32_t> producers_of(const Graph& graph) {
  std::vector<std::int32_t> producer(graph.tensors.size(), -1);
  for (std::size_t number = 0; number < graph.nodes.size(); ++number)
    for (const TensorId id : graph.nodes[number].outputs)
      if (id.valid()) producer[index_of(id)] = static_cast<std::int32_t>(number);
  return producer;
}

double bytes_of_tensor(const Graph& graph, TensorId id) {
  return static_cast<double>(tensor_bytes(graph.tensor(id)).value_or(0));
}

class Divider {
 public:
  Divider(const Graph& graph, const std::vector<Target>& targets)
      : graph_(graph), targets_(targets), producer_(producers_of(graph)) {}

  Partition run() {
    for (std::size_t number = 0; number < graph_.nodes.size(); ++number) out_.target_of.push_back(target_for(number));
    build_parts();
    find_transfers();
    for (auto& [key, refusal] : refusals_) out_.refusals.push_back(std::move(refusal));
    std::stable_sort(out_.refusals.begin(), out_.refusals.end(),
                     [](const Refusal& a, const Refusal& b) { return a.nodes > b.nodes; });
    return std::move(out_);
  }

 private:
  std::size_t target_for(std::size_t number) {
    const Node& node = graph_.nodes[number];
    const OperatorClass kind = class_of(node);
    const bool follows = kind == OperatorClass::view || kind == OperatorClass::host;
    if (follows && !node.inputs.empty() && node.inputs[0].valid() && producer_[index_of(node.inputs[0])] >= 0)
      return out_.target_of[static_cast<std::size_t>(producer_[index_of(node.inputs[0])])];
    for (std::size_t target = 0; target < targets_.size(); ++target) {
      std::string reason = targets_[target].refuses ? targets_[target].refuses(graph_, node) : "";
      if (reason.empty() && targets_[target].one_part && comes_after_others(node, target))
        reason =
            "it follows nodes that " + targets_[target].name + " does not support, and the backend allows only one partition";
      if (reason.empty()) return target;
      const std::string op = node.qualified_type();
      Refusal& refusal = refusals_[{op, target, reason}];
      refusal.op_type = op;
      refusal.target = targets_[target].name;
      refusal.reason = reason;
      ++refusal.nodes;
    }
    return targets_.empty() ? 0 : targets_.size() - 1;
  }

  [[nodiscard]] bool comes_after_others(const Node& node, std::size_t target) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](TensorId id) {
      return id.valid() && producer_[index_of(id)] >= 0 &&
             out_.target_of[static_cast<std::size_t>(producer_[index_of(id)])] != target;
    });
  }

  // A node's segment grows wherever the path to it changes targets; nodes of one target and segment are one part, and no path
  // leaves a part and comes back.
  void build_parts() {
    std::map<NodeKey, std::size_t> part_of;
    const GraphCost cost = cost_of(graph_);
    std::map<const Node*, double> flops;
    for (const CostedNode& item : cost.nodes) flops[item.node] = item.cost.flops;
    std::vector<std::size_t> segment(graph_.nodes.size(), 0);
    for (std::size_t number = 0; number < graph_.nodes.size(); ++number) {
      for (const TensorId id : graph_.nodes[number].inputs) {
        if (!id.valid() || producer_[index_of(id)] < 0) continue;
        const auto before = static_cast<std::size_t>(producer_[index_of(id)]);
        segment[number] = std::max(segment[number], segment[before] + (out_.target_of[before] != out_.target_of[number] ? 1 : 0));
      }
      const auto [found, is_new] = part_of.try_emplace({out_.target_of[number], segment[number]}, out_.parts.size());
      if (is_new) out_.parts.push_back({out_.target_of[number], {}, 0});
      Part& part = out_.parts[found->second];
      part.nodes.push_back(number);
      part.flops += flops[&graph_.nodes[number]];
    }
  }

  void find_transfers() {
    std::set<std::pair<std::int32_t, std::size_t>> seen;
    for (std::size_t number = 0; number < graph_.nodes.size(); ++number)
      for (const TensorId id : graph_.nodes[number].inputs) {
        if (!id.valid() || producer_[index_of(id)] < 0) continue;
        const std::size_t from = out_.target_of[static_cast<std::size_t>(producer_[index_of(id)])], to = out_.target_of[number];
        if (from == to || !seen.insert({id.value, to}).second) continue;
        out_.transfers.push_back({id, from, to, bytes_of_tensor(graph_, id)});
        out_.transfer_bytes += out_.transfers.back().bytes;
      }
  }

  using NodeKey = std::pair<std::size_t, std::size_t>;  // target, segment

  const Graph& graph_;
  const std::vector<Target>& targets_;
  std::vector<std::int32_t> producer_;
  Partition out_;
  std::map<std::tuple<std::string, std::size_t, std::string>, Refusal> refusals_;
};

}  // namespace

Partition partition(const Graph& graph, const std::vector<Target>& targets) { return Divider(graph, targets).run(); }

Schedule schedule(const Graph& graph, const std::vector<double>& seconds) {
  const std::vector<std::int32_t> producer = producers_of(graph);
  Schedule out;
  std::vector<double> finish(graph.nodes.size(), 0);
  std::vector<std::size_t> level(graph.nodes.size(), 0);
  std::vector<std::int64_t> before(graph.nodes.size(), -1);
  std::map<std::size_t, std::size_t> width;
  std::int64_t last = -1;
  for (std::size_t number = 0; number < graph.nodes.size(); ++number) {
    double start = 0;
    for (const TensorId id : graph.nodes[number].inputs) {
      if (!id.valid() || producer[index_of(id)] < 0) continue;
      const auto earlier = static_cast<std::size_t>(producer[index_of(id)]);
      level[number] = std::max(level[number], level[earlier] + 1);
      if (before[number] >= 0 && finish[earlier] <= start) continue;
      start = std::max(start, finish[earlier]);
      before[number] = static_cast<std::int64_t>(earlier);
    }
    const double own = number < seconds.size() ? std::max(0.0, seconds[number]) : 0;
    finish[number] = start + own;
    out.work += own;
    out.widest = std::max(out.widest, ++width[level[number]]);
    if (last < 0 || finish[number] > finish[static_cast<std::size_t>(last)]) last = static_cast<std::int64_t>(number);
  }
  for (std::int64_t number = last; number >= 0; number = before[static_cast<std::size_t>(number)])
    out.path.insert(out.path.begin(), static_cast<std::size_t>(number));
  if (last >= 0) out.critical = finish[static_cast<std::size_t>(last)];
  out.parallelism = out.critical > 0 ? out.work / out.critical : 1;
  return out;
}

}  // namespace aaco::graph
