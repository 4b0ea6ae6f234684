#include "graph/near_miss.h"

#include <algorithm>

#include "core/strings.h"
#include "graph/fuse/conditions.h"
#include "graph/fuse/kept_nodes.h"
#include "graph/fuse/matcher.h"

namespace aaco::graph {
namespace {

class Finder {
 public:
  Finder(const Graph& graph, const FusionRules& rules, const FusionSlack& slack)
      : graph_(graph), rules_(rules), slack_(slack), links_(graph) {}

  std::vector<NearMiss> run() const {
    std::vector<NearMiss> out;
    for (const FusionPattern& pattern : rules_.patterns) {
      FusionSlack slack = slack_;
      slack.between.insert(pattern.between.begin(), pattern.between.end());
      for (std::size_t anchor = 0; anchor < graph_.nodes.size(); ++anchor) {
        const auto match = match_loosely(graph_, links_, pattern, anchor, slack);
        if (!match || match->steps.size() < 2) continue;
        if (auto miss = judge(pattern, *match, anchor)) out.push_back(std::move(*miss));
      }
    }
    return out;
  }

 private:
  // Empty where more than one condition is not met.
  std::optional<NearMiss> judge(const FusionPattern& pattern, const LooseMatch& match, std::size_t anchor) const {
    std::set<std::size_t> nodes;
    for (const auto& [step, number] : match.steps) nodes.insert(number);
    NearMiss miss{pattern.name, pattern.level, {}, last_before(nodes, anchor), anchor, {}, {nodes.begin(), nodes.end()}, {}};
    miss.copied = is_shared(pattern, match, miss.first);
    if (match.deviation) {
      // An operand that is not constant is this very deviation.
      Match others = match.steps;  // what a step requires of its operands says nothing about another operator in its place
      if (!match.deviation->wanted.empty())
        std::erase_if(others, [&](const auto& one) { return one.second == match.deviation->consumer; });
      const auto besides = first_unmet_operand(graph_, links_, pattern, others);
      if (besides && besides->is_known && besides->reason != "operand_not_constant") return std::nullopt;
      deviation(*match.deviation, nodes, miss);
      return miss;
    }
    const auto besides = first_unmet(graph_, links_, pattern, match.steps, anchor);
    if (leak(pattern, match, nodes, anchor, miss))
      return (besides && besides->is_known) || !pattern.lacks.empty() ? std::nullopt : std::optional(std::move(miss));
    if (besides) {
      place(pattern, match, *besides, nodes, anchor, miss);
    } else if (!pattern.lacks.empty()) {
      miss.reason = "operator_not_covered";
      miss.condition = "the pattern requires " + pattern.lacks;
    } else if (pattern.inner && is_output(anchor)) {
      miss.reason = "graph_output";
      miss.condition = "the result of " + quoted_name(graph_, anchor) +
                       ", the last of the pattern, is an output of the graph; the pattern requires that a node reads it";
    } else if (!pattern.further.empty()) {
      miss.reason = "not_checked";
      miss.condition = pattern.further;
    }
    return miss;
  }

  [[nodiscard]] bool is_output(std::size_t node) const {
    const auto& made = graph_.nodes[node].outputs;
    return std::any_of(made.begin(), made.end(), [&](TensorId id) { return id.valid() && links_.output[index_of(id)]; });
  }

  static bool is_shared(const FusionPattern& pattern, const LooseMatch& match, std::size_t node) {
    return std::any_of(pattern.steps.begin(), pattern.steps.end(), [&](const FusionStep& step) {
      const auto found = match.steps.find(step.id);
      return step.shared && found != match.steps.end() && found->second == node;
    });
  }

  // The two nodes that a condition keeps apart: the one that does not meet it and the node in front of it, else (also where that
  // one is left as a copy) the one behind it.
  void place(const FusionPattern& pattern, const LooseMatch& match, const Unmet& unmet, const std::set<std::size_t>& nodes,
             std::size_t anchor, NearMiss& miss) const {
    miss.reason = unmet.reason;
    miss.condition = unmet.condition;
    if (unmet.other) {
      miss.first = *unmet.other;
      miss.second = unmet.node;
      return;
    }
    if (unmet.node == anchor) return;
    const std::size_t before = feeder_in(nodes, unmet.node);
    const bool behind = before == unmet.node || is_shared(pattern, match, before);
    miss.first = behind ? unmet.node : before;
    miss.second = behind ? reader_in(nodes, unmet.node) : unmet.node;
  }

  // The node of the match whose result `node` reads; itself where there is none.
  [[nodiscard]] std::size_t feeder_in(const std::set<std::size_t>& nodes, std::size_t node) const {
    for (const TensorId id : graph_.nodes[node].inputs) {
      if (!id.valid() || links_.producer[index_of(id)] < 0) continue;
      const auto producer = static_cast<std::size_t>(links_.producer[index_of(id)]);
      if (producer != node && nodes.contains(producer)) return producer;
    }
    return node;
  }

  // The node of the match whose result the anchor reads.
  [[nodiscard]] std::size_t last_before(const std::set<std::size_t>& nodes, std::size_t anchor) const {
    if (const std::size_t feeder = feeder_in(nodes, anchor); feeder != anchor) return feeder;
    const auto after = nodes.find(anchor);
    return after == nodes.begin() ? anchor : *std::prev(after);
  }

  // The node of the match that reads what `node` makes; itself where none does.
  [[nodiscard]] std::size_t reader_in(const std::set<std::size_t>& nodes, std::size_t node) const {
    for (const TensorId id : graph_.nodes[node].outputs)
      if (id.valid())
        for (const std::size_t reader : links_.readers[index_of(id)])
          if (nodes.contains(reader)) return reader;
    return node;
  }

  void deviation(const Deviation& found, const std::set<std::size_t>& nodes, NearMiss& miss) const {
    miss.second = found.consumer;
    miss.first = found.producer.value_or(found.consumer);
    miss.cause = found.cause;
    miss.reason = found.reason;
    if (!found.wanted.empty()) {
      miss.first = last_before(nodes, found.consumer);
      if (miss.first == found.consumer) miss.second = reader_in(nodes, found.consumer);
      miss.condition = quoted_name(graph_, found.consumer) + " is " + graph_.nodes[found.consumer].qualified_type() +
                       "; the pattern requires " + core::join(found.wanted, " or ");
      return;
    }
    if (!found.cause) {
      miss.first = last_before(nodes, found.consumer);
      if (miss.first == found.consumer) miss.second = reader_in(nodes, found.consumer);
      miss.cause = found.producer;
      miss.condition = "operand '" + graph_.tensor(found.operand).name + "' of " + quoted_name(graph_, found.consumer) + " is " +
                       (found.producer ? "computed by " + quoted_name(graph_, *found.producer) : "an input of the graph") +
                       "; the pattern requires a constant";
      return;
    }
    const Node& between = graph_.nodes[*found.cause];
    if (between.op_type == "Cast") miss.reason = "cast_between";
    miss.condition = between.qualified_type() + " " + quoted_name(graph_, *found.cause) + " is between " +
                     quoted_name(graph_, miss.first) + " and " + quoted_name(graph_, miss.second);
  }

  bool leak(const FusionPattern& pattern, const LooseMatch& match, const std::set<std::size_t>& nodes, std::size_t anchor,
            NearMiss& miss) const {
    // A transparent operator between two nodes is a reader that does not count.
    std::set<std::size_t> inside;
    for (const std::size_t node : nodes)
      if (!is_shared(pattern, match, node)) inside.insert(node);
    for (const std::size_t node : nodes)
      for (const TensorId id : graph_.nodes[node].outputs)
        if (id.valid())
          for (const std::size_t reader : links_.readers[index_of(id)])
            if (slack_.transparent.contains(graph_.nodes[reader].qualified_type())) inside.insert(reader);
    const auto found = find_leak(graph_, links_, inside, anchor);
    if (!found) return false;
    miss.first = found->node;
    for (const TensorId id : graph_.nodes[found->node].outputs)
      if (id.valid())
        for (const std::size_t reader : links_.readers[index_of(id)])
          if (nodes.contains(reader)) miss.second = reader;
    miss.cause = found->reader;
    miss.reason = found->reader ? "several_consumers" : "graph_output";
    miss.condition = "the result of " + quoted_name(graph_, found->node) + " is " +
                     (!found->reader          ? "an output of the graph"
                      : found->inside.empty() ? "also read by " + quoted_name(graph_, *found->reader)
                                              : "also read by " + found->inside + " of " + quoted_name(graph_, *found->reader));
    return true;
  }

  const Graph& graph_;
  const FusionRules& rules_;
  const FusionSlack& slack_;
  Links links_;
};

}  // namespace

std::vector<NearMiss> near_misses(const Graph& graph, const FusionRules& rules, const FusionSlack& slack) {
  auto found = Finder(graph, rules, slack).run();
  for (NearMiss& kept : kept_nodes(graph, Links(graph), rules.eliminations)) found.push_back(std::move(kept));
  return found;
}

}  // namespace aaco::graph
