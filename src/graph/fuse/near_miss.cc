#include "graph/near_miss.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/strings.h"
#include "graph/fuse/matcher.h"

namespace aaco::graph {
namespace {

std::string quoted(const Graph& graph, std::size_t node) {
  const Node& one = graph.nodes[node];
  return "'" + (one.name.empty() ? one.op_type + " " + std::to_string(node) : one.name) + "'";
}

class Finder {
 public:
  Finder(const Graph& graph, const FusionRules& rules, const FusionSlack& slack)
      : graph_(graph), rules_(rules), slack_(slack), links_(graph) {}

  std::vector<NearMiss> run() const {
    std::vector<NearMiss> out;
    for (const FusionPattern& pattern : rules_.patterns)
      for (std::size_t anchor = 0; anchor < graph_.nodes.size(); ++anchor) {
        const auto match = match_loosely(graph_, links_, pattern, anchor, slack_);
        if (!match || match->steps.size() < 2) continue;
        if (auto miss = judge(pattern, *match, anchor)) out.push_back(std::move(*miss));
      }
    return out;
  }

 private:
  // Empty where more than one condition is not met.
  std::optional<NearMiss> judge(const FusionPattern& pattern, const LooseMatch& match, std::size_t anchor) const {
    std::set<std::size_t> nodes;
    for (const auto& [step, number] : match.steps) nodes.insert(number);
    NearMiss miss{pattern.name, pattern.level, {}, last_before(nodes, anchor), anchor, {}, {nodes.begin(), nodes.end()}, {}};
    if (match.deviation) {
      deviation(*match.deviation, nodes, miss);
      return miss;
    }
    NearMiss besides = miss;
    unmet(pattern, match, anchor, besides);
    if (!leak(nodes, anchor, miss)) return besides;
    return besides.reason.empty() ? std::optional(std::move(miss)) : std::nullopt;
  }

  // The node of the match whose result the anchor reads.
  [[nodiscard]] std::size_t last_before(const std::set<std::size_t>& nodes, std::size_t anchor) const {
    for (const TensorId id : graph_.nodes[anchor].inputs) {
      if (!id.valid() || links_.producer[index_of(id)] < 0) continue;
      const auto producer = static_cast<std::size_t>(links_.producer[index_of(id)]);
      if (producer != anchor && nodes.contains(producer)) return producer;
    }
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
    if (!found.cause) {
      miss.first = last_before(nodes, found.consumer);
      if (miss.first == found.consumer) miss.second = reader_in(nodes, found.consumer);
      miss.cause = found.producer;
      miss.condition = "operand '" + graph_.tensor(found.operand).name + "' of " + quoted(graph_, found.consumer) + " is " +
                       (found.producer ? "computed by " + quoted(graph_, *found.producer) : "an input of the graph") +
                       "; the pattern requires a constant";
      return;
    }
    const Node& between = graph_.nodes[*found.cause];
    if (between.op_type == "Cast") miss.reason = "cast_between";
    miss.condition = between.qualified_type() + " " + quoted(graph_, *found.cause) + " is between " + quoted(graph_, miss.first) +
                     " and " + quoted(graph_, miss.second);
  }

  bool leak(const std::set<std::size_t>& nodes, std::size_t anchor, NearMiss& miss) const {
    // A transparent operator between two nodes is a reader that does not count.
    std::set<std::size_t> inside = nodes;
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
    miss.condition = "the result of " + quoted(graph_, found->node) + " is " +
                     (found->reader ? "also read by " + quoted(graph_, *found->reader) : "an output of the graph");
    return true;
  }

  void unmet(const FusionPattern& pattern, const LooseMatch& match, std::size_t anchor, NearMiss& miss) const {
    const Node& last = graph_.nodes[anchor];
    const ElementType type =
        last.outputs.empty() || !last.outputs[0].valid() ? ElementType::unknown : graph_.tensor(last.outputs[0]).type;
    if (!pattern.types.empty() && type != ElementType::unknown && !pattern.types.contains(type)) {
      std::vector<std::string> names;
      for (const ElementType one : pattern.types) names.emplace_back(to_string(one));
      miss.reason = "type_not_covered";
      miss.condition = "the type is " + std::string(to_string(type)) + "; the pattern requires " + core::join(names, " or ");
      return;
    }
    for (const auto& [domain, range] : pattern.opsets) {
      const auto asked = graph_.opsets.find(domain);
      if (asked == graph_.opsets.end() || (asked->second >= range.first && asked->second <= range.second)) continue;
      miss.reason = "opset_not_covered";
      miss.condition = "opset " + std::to_string(asked->second) + "; the pattern covers " + std::to_string(range.first) + " to " +
                       std::to_string(range.second);
      return;
    }
    for (const RankCondition& condition : pattern.ranks)
      if (unmet_rank(condition, match, miss)) return;
    for (const ValueCondition& condition : pattern.values)
      if (unmet_value(condition, match, miss)) return;
  }

  bool unmet_value(const ValueCondition& condition, const LooseMatch& match, NearMiss& miss) const {
    const auto step = match.steps.find(condition.step);
    if (step == match.steps.end()) return false;
    const Node& node = graph_.nodes[step->second];
    if (condition.operand) return unmet_operand(condition, node, step->second, miss);
    const AttributeValue* const value = node.attribute(condition.attribute);
    if (value == nullptr) return false;
    if (condition.last_axis) return unmet_axis(condition, *value, node, step->second, miss);
    const auto* const word = std::get_if<std::string>(value);
    const auto* const whole = std::get_if<std::int64_t>(value);
    const bool known = word != nullptr ? std::find(condition.words.begin(), condition.words.end(), *word) != condition.words.end()
                       : whole != nullptr ? is_among(static_cast<double>(*whole), condition.values)
                                          : true;
    if (known) return false;
    miss.reason = "attribute_not_covered";
    miss.condition = "attribute " + condition.attribute + " of " + quoted(graph_, step->second) + " is " +
                     (word != nullptr ? *word : std::to_string(*whole)) + "; the pattern requires " + allowed(condition);
    return true;
  }

  bool unmet_operand(const ValueCondition& condition, const Node& node, std::size_t number, NearMiss& miss) const {
    const std::size_t at = *condition.operand;
    if (at >= node.inputs.size() || !node.inputs[at].valid()) return false;
    TensorId id = node.inputs[at];
    if (!links_.constant[index_of(id)] && at == 1 && links_.constant[index_of(node.inputs[0])]) id = node.inputs[0];
    const std::string what = "operand '" + graph_.tensor(id).name + "' of " + quoted(graph_, number);
    if (!links_.constant[index_of(id)]) {
      miss.reason = "operand_not_constant";
      miss.condition = what + " is " +
                       (links_.producer[index_of(id)] < 0 ? std::string("an input of the graph") : std::string("computed")) +
                       "; the pattern requires a constant";
      return true;
    }
    const auto value = scalar_value(id);
    if (!value || condition.values.empty() || is_among(*value, condition.values)) return false;
    miss.reason = "value_not_covered";
    miss.condition = fmt::format("{} is {:.6g}; the pattern requires {}", what, *value, allowed(condition));
    return true;
  }

  bool unmet_axis(const ValueCondition& condition, const AttributeValue& value, const Node& node, std::size_t number,
                  NearMiss& miss) const {
    std::optional<std::int64_t> axis;
    if (const auto* one = std::get_if<std::int64_t>(&value)) axis = *one;
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value); list != nullptr && list->size() == 1)
      axis = list->front();
    const auto& shape = node.inputs.empty() || !node.inputs[0].valid() ? std::nullopt : graph_.tensor(node.inputs[0]).shape;
    if (!axis || *axis == -1 || !shape || *axis == static_cast<std::int64_t>(shape->size()) - 1) return false;
    miss.reason = "attribute_not_covered";
    miss.condition = fmt::format("attribute {} of {} is {}; the pattern requires the last axis", condition.attribute,
                                 quoted(graph_, number), *axis);
    return true;
  }

  static bool is_among(double value, const std::vector<double>& values) {
    constexpr double kSame = 1e-3;
    return std::any_of(values.begin(), values.end(),
                       [&](double one) { return std::abs(value - one) <= kSame * std::max(1e-6, std::abs(one)); });
  }

  static std::string allowed(const ValueCondition& condition) {
    std::vector<std::string> texts = condition.words;
    for (const double value : condition.values) texts.push_back(fmt::format("{:.6g}", value));
    return core::join(texts, " or ");
  }

  // Of a float constant of one element whose content is known.
  [[nodiscard]] std::optional<double> scalar_value(TensorId id) const {
    const TensorDescriptor& tensor = graph_.tensor(id);
    if (tensor.type != ElementType::float32 || !tensor.shape || element_count(*tensor.shape) != 1) return std::nullopt;
    for (const Initializer& one : graph_.initializers)
      if (one.tensor == id && one.constant.data.size() == sizeof(float)) {
        float value = 0;
        std::memcpy(&value, one.constant.data.data(), sizeof value);
        return static_cast<double>(value);
      }
    return std::nullopt;
  }

  bool unmet_rank(const RankCondition& condition, const LooseMatch& match, NearMiss& miss) const {
    const auto step = match.steps.find(condition.step);
    if (step == match.steps.end()) return false;
    const Node& node = graph_.nodes[step->second];
    if (condition.operand >= node.inputs.size() || !node.inputs[condition.operand].valid()) return false;
    std::size_t operand = condition.operand;
    // Operands of sums and products may be in either order: not the one that a matched node makes.
    if (operand == 1 && !links_.constant[index_of(node.inputs[1])] && links_.constant[index_of(node.inputs[0])]) operand = 0;
    const TensorDescriptor& tensor = graph_.tensor(node.inputs[operand]);
    if (!tensor.shape) return false;
    const auto rank = static_cast<std::int64_t>(tensor.shape->size());
    const std::string what = "operand '" + tensor.name + "' of " + quoted(graph_, step->second);
    if (!condition.ranks.empty() && std::find(condition.ranks.begin(), condition.ranks.end(), rank) == condition.ranks.end()) {
      std::vector<std::string> ranks;
      for (const std::int64_t one : condition.ranks) ranks.push_back(std::to_string(one));
      miss.condition = what + " has rank " + std::to_string(rank) + "; the pattern requires " + core::join(ranks, " or ");
    } else if (condition.fixed_from && rank >= *condition.fixed_from && !element_count(*tensor.shape)) {
      miss.condition = what + " is " + to_string(*tensor.shape) + "; the pattern requires fixed sizes from rank " +
                       std::to_string(*condition.fixed_from);
    } else if (condition.same_as && !same_shape(node, *condition.same_as, tensor)) {
      const TensorDescriptor& other = graph_.tensor(node.inputs[*condition.same_as]);
      miss.condition = what + " is " + to_string(*tensor.shape) + " and '" + other.name + "' " +
                       (other.shape ? to_string(*other.shape) : "of unknown shape") + "; the pattern requires the same shape";
    } else if (condition.per_channel && !(condition.or_scalar && rank == 0) && !is_per_channel(*tensor.shape)) {
      miss.condition = what + " is " + to_string(*tensor.shape) + "; the pattern requires [C, 1, 1] or [1, C, 1, 1]" +
                       (condition.or_scalar ? " or a scalar" : "");
    } else {
      return false;
    }
    miss.reason = "shape_not_covered";
    return true;
  }

  [[nodiscard]] bool same_shape(const Node& node, std::size_t operand, const TensorDescriptor& tensor) const {
    if (operand >= node.inputs.size() || !node.inputs[operand].valid()) return true;
    const auto& other = graph_.tensor(node.inputs[operand]).shape;
    const auto is_known = [](const Dimension& one) { return one.fixed() || !one.symbol.empty(); };
    return other && *other == *tensor.shape && std::all_of(other->begin(), other->end(), is_known);
  }
  static bool is_per_channel(const Shape& shape) {
    if (shape.size() != 3 && (shape.size() != 4 || shape[0] != Dimension(1))) return false;
    return shape.end()[-1] == Dimension(1) && shape.end()[-2] == Dimension(1) && shape.end()[-3] != Dimension(1);
  }

  const Graph& graph_;
  const FusionRules& rules_;
  const FusionSlack& slack_;
  Links links_;
};

}  // namespace

std::vector<NearMiss> near_misses(const Graph& graph, const FusionRules& rules, const FusionSlack& slack) {
  return Finder(graph, rules, slack).run();
}

}  // namespace aaco::graph
