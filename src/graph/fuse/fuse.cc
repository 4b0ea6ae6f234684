#include "graph/fuse.h"

#include <algorithm>
#include <set>

#include "graph/fuse/matcher.h"
#include "graph/tensor_bytes.h"

namespace aaco::graph {
namespace {

class Fuser {
 public:
  Fuser(const Graph& graph, const FusionRules& rules) : graph_(graph), rules_(rules), links_(graph) {
    out_.kernel_of.resize(graph.nodes.size());
    for (std::size_t number = 0; number < graph.nodes.size(); ++number) out_.kernel_of[number] = number;
    taken_.assign(graph.nodes.size(), false);
  }

  Fusion run() {
    for (const FusionPattern& pattern : rules_.patterns)
      for (std::size_t anchor = graph_.nodes.size(); anchor-- > 0;)
        if (!taken_[anchor]) try_pattern(pattern, anchor);
    if (rules_.pointwise || !rules_.epilogues.empty()) chain();
    settle();
    return std::move(out_);
  }

 private:
  void try_pattern(const FusionPattern& pattern, std::size_t anchor) {
    const auto match = match_pattern(graph_, links_, pattern, anchor);
    if (!match || match->size() < 2) return;
    std::set<std::size_t> nodes;
    for (const auto& [step, number] : *match) nodes.insert(number);
    for (const std::size_t number : nodes)
      if (taken_[number]) return;  // an earlier pattern has it
    if (std::string reason = needed_elsewhere(nodes, anchor); !reason.empty()) {
      out_.not_fused.push_back({pattern.name, anchor, std::move(reason)});
      return;
    }
    join(pattern.name, {nodes.begin(), nodes.end()});
  }

  // Why a result inside the group cannot stay inside; empty where all can.
  [[nodiscard]] std::string needed_elsewhere(const std::set<std::size_t>& nodes, std::size_t last) const {
    const auto leak = find_leak(graph_, links_, nodes, last);
    if (!leak) return {};
    const std::string result = "the result of '" + graph_.nodes[leak->node].name + "' is ";
    return result + (!leak->reader          ? "an output of the graph"
                     : leak->inside.empty() ? "also read by '" + graph_.nodes[*leak->reader].name + "'"
                                            : "also read by " + leak->inside + " of '" + graph_.nodes[*leak->reader].name + "'");
  }

  void join(const std::string& pattern, std::vector<std::size_t> nodes) {
    for (const std::size_t number : nodes) {
      taken_[number] = true;
      out_.kernel_of[number] = nodes.front();
    }
    out_.groups.push_back({pattern, std::move(nodes), 0});
    group_of_[out_.groups.back().nodes.front()] = out_.groups.size() - 1;
  }

  [[nodiscard]] bool is_folded(const Node& node) const {
    return !node.outputs.empty() && node.outputs[0].valid() && links_.constant[index_of(node.outputs[0])];
  }

  // The only node whose result goes into this one and nowhere else.
  [[nodiscard]] std::optional<std::size_t> sole_feeder(const Node& node) const {
    for (const TensorId id : node.inputs) {
      if (!id.valid() || links_.constant[index_of(id)] || links_.producer[index_of(id)] < 0) continue;
      const auto feeder = static_cast<std::size_t>(links_.producer[index_of(id)]);
      // One with further results may reach this node around the kernel too.
      if (!links_.kept[index_of(id)] && links_.readers[index_of(id)].size() == 1 && graph_.nodes[feeder].outputs.size() == 1)
        return feeder;
    }
    return std::nullopt;
  }

  // Element-wise nodes join the kernel in front of them.
  void chain() {
    for (std::size_t number = 0; number < graph_.nodes.size(); ++number) {
      const Node& node = graph_.nodes[number];
      if (taken_[number] || is_folded(node) || class_of(node) != OperatorClass::elementwise) continue;
      const auto feeder = sole_feeder(node);
      if (!feeder) continue;
      const OperatorClass kind = class_of(graph_.nodes[*feeder]);
      const std::size_t kernel = out_.kernel_of[*feeder];
      const OperatorClass head = class_of(graph_.nodes[kernel]);
      const bool behind = std::find(rules_.epilogues.begin(), rules_.epilogues.end(), head) != rules_.epilogues.end();
      const bool pointwise = rules_.pointwise && kind == OperatorClass::elementwise && head == OperatorClass::elementwise;
      if (!behind && !pointwise) continue;
      taken_[number] = true;
      out_.kernel_of[number] = kernel;
      if (const auto found = group_of_.find(kernel); found != group_of_.end()) {
        out_.groups[found->second].nodes.push_back(number);
      } else {
        out_.groups.push_back({behind ? "epilogue" : "pointwise", {kernel, number}, 0});
        taken_[kernel] = true;
        group_of_[kernel] = out_.groups.size() - 1;
      }
    }
  }

  [[nodiscard]] double bytes_of_tensor(TensorId id) const {
    return static_cast<double>(tensor_bytes(graph_.tensor(id)).value_or(0));
  }

  // A result that stays inside is not written, and not read by each of its readers.
  void settle() {
    for (FusedGroup& group : out_.groups) {
      std::sort(group.nodes.begin(), group.nodes.end());
      for (const std::size_t number : group.nodes)
        for (const TensorId id : graph_.nodes[number].outputs) {
          if (!id.valid() || links_.kept[index_of(id)] || links_.readers[index_of(id)].empty()) continue;
          const auto& readers = links_.readers[index_of(id)];
          const bool inside = std::all_of(readers.begin(), readers.end(),
                                          [&](std::size_t reader) { return out_.kernel_of[reader] == out_.kernel_of[number]; });
          if (inside) group.saved_bytes += bytes_of_tensor(id) * (1 + static_cast<double>(readers.size()));
        }
      out_.saved_bytes += group.saved_bytes;
    }
    std::set<std::size_t> kernels;
    for (std::size_t number = 0; number < graph_.nodes.size(); ++number) {
      const OperatorClass kind = class_of(graph_.nodes[number]);
      const bool none = kind == OperatorClass::view || kind == OperatorClass::host || is_folded(graph_.nodes[number]);
      if (!none) kernels.insert(out_.kernel_of[number]);
    }
    out_.kernels = kernels.size();
  }

  const Graph& graph_;
  const FusionRules& rules_;
  Links links_;
  Fusion out_;
  std::vector<bool> taken_;
  std::map<std::size_t, std::size_t> group_of_;  // first node -> group
};

}  // namespace

Fusion fuse(const Graph& graph, const FusionRules& rules) { return Fuser(graph, rules).run(); }

}  // namespace aaco::graph
