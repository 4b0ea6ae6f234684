#include "graph/fuse/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/strings.h"
#include "graph/constant_values.h"
#include "graph/fuse/quantisation_conditions.h"
#include "graph/fuse/shape_conditions.h"
#include "graph/near_miss.h"

namespace aaco::graph {
namespace {

std::string allowed(const ValueCondition& condition) {
  std::vector<std::string> texts = condition.words;
  // Whole numbers of 64 bits are read as the next real one.
  const auto largest = static_cast<double>(std::numeric_limits<std::int64_t>::max());
  for (const double value : condition.values)
    texts.push_back(value >= largest ? std::to_string(std::numeric_limits<std::int64_t>::max()) : fmt::format("{:.6g}", value));
  return core::join(texts, " or ");
}

// The last two axes exchanged or as they are, the axes before them in their order, first or behind the first axis:
// ONNX Runtime takes these into a matrix product (FusedMatMul's trans and transBatch).
bool moves_matrix_only(const std::vector<std::int64_t>& order) {
  const auto rank = static_cast<std::int64_t>(order.size());
  if (rank < 2 || (order.end()[-1] != rank - 1 && order.end()[-2] != rank - 1)) return false;
  for (std::int64_t axis = 0; axis + 2 < rank; ++axis)
    if (order[static_cast<std::size_t>(axis)] != order[0] + axis) return false;
  return rank == 2 || order[0] <= 1;
}

class Checker {
 public:
  Checker(const Graph& graph, const Links& links, const FusionPattern& pattern, const Match& match)
      : graph_(graph), links_(links), pattern_(pattern), match_(match) {}

  std::optional<Unmet> result(std::size_t anchor) const {
    auto of_type = result_type(anchor);
    if (of_type && of_type->is_known) return of_type;
    auto of_set = operator_set(anchor);
    return of_set ? of_set : of_type;
  }

  // Attributes come first: a shape that does not fit may follow from one.
  std::optional<Unmet> operands() const {
    std::optional<Unmet> unknown;
    const auto is_final = [&](std::optional<Unmet>& unmet) {
      if (unmet && !unmet->is_known && !unknown) unknown = unmet;
      return unmet && unmet->is_known;
    };
    for (const bool of_attributes : {true, false}) {
      if (!of_attributes)
        for (const RankCondition& condition : pattern_.ranks)
          if (const auto step = match_.find(condition.step); step != match_.end())
            if (auto unmet = shape(condition, step->second); is_final(unmet)) return unmet;
      for (const ValueCondition& condition : pattern_.values)
        if (const auto step = match_.find(condition.step); condition.attribute.empty() != of_attributes && step != match_.end())
          if (auto unmet = value(condition, step->second); is_final(unmet)) return unmet;
    }
    return unknown;
  }

 private:
  [[nodiscard]] std::optional<Unmet> result_type(std::size_t anchor) const {
    const Node& last = graph_.nodes[anchor];
    const ElementType type =
        last.outputs.empty() || !last.outputs[0].valid() ? ElementType::unknown : graph_.tensor(last.outputs[0]).type;
    if (!pattern_.types.empty() && type == ElementType::unknown)
      return not_checked("the type of the result of " + quoted_name(graph_, anchor) + " is not known; the pattern requires " +
                             names_of(pattern_.types),
                         anchor);
    if (!pattern_.types.empty() && !pattern_.types.contains(type))
      return Unmet{"type_not_covered",
                   "the type is " + std::string(to_string(type)) + "; the pattern requires " + names_of(pattern_.types), anchor};
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Unmet> operator_set(std::size_t anchor) const {
    for (const auto& [domain, range] : pattern_.opsets) {
      const auto asked = graph_.opsets.find(domain);
      if (asked == graph_.opsets.end() || (asked->second >= range.first && asked->second <= range.second)) continue;
      return Unmet{"opset_not_covered",
                   fmt::format("opset {}; the pattern covers {} to {}", asked->second, range.first, range.second), anchor};
    }
    return std::nullopt;
  }

  static std::string names_of(const std::set<ElementType>& types) {
    std::vector<std::string> names;
    for (const ElementType one : types) names.emplace_back(to_string(one));
    return core::join(names, " or ");
  }

  // Where the operand stands that a pattern has as `operand`: sums and products may have theirs in either order.
  [[nodiscard]] std::size_t place_of(const std::string& step, const Node& node, std::size_t operand) const {
    if (operand > 1 || node.inputs.size() < 2 || !commutes(node)) return operand;
    const auto found =
        std::find_if(pattern_.steps.begin(), pattern_.steps.end(), [&](const FusionStep& one) { return one.id == step; });
    const auto made_by_step = [&](std::size_t place) {
      const TensorId id = node.inputs[place];
      if (!id.valid() || links_.producer[index_of(id)] < 0) return false;
      const auto producer = static_cast<std::size_t>(links_.producer[index_of(id)]);
      return std::any_of(match_.begin(), match_.end(), [&](const auto& one) { return one.second == producer; });
    };
    const bool from_step = found != pattern_.steps.end() && found->operands.size() > operand &&
                           std::any_of(pattern_.steps.begin(), pattern_.steps.end(),
                                       [&](const auto& one) { return one.id == found->operands[operand]; });
    if (made_by_step(0) != made_by_step(1)) return made_by_step(operand) == from_step ? operand : 1 - operand;
    const auto constant = [&](std::size_t place) {
      return node.inputs[place].valid() && links_.constant[index_of(node.inputs[place])];
    };
    return operand == 1 && !constant(1) && constant(0) ? 0 : operand;
  }

  [[nodiscard]] std::optional<Unmet> shape(const RankCondition& condition, std::size_t number) const {
    // Where two operands are compared, their order does not matter.
    const std::size_t operand =
        condition.same_as ? condition.operand : place_of(condition.step, graph_.nodes[number], condition.operand);
    return unmet_shape(graph_, condition, number, operand);
  }

  [[nodiscard]] std::optional<Unmet> value(const ValueCondition& condition, std::size_t number) const {
    const Node& node = graph_.nodes[number];
    if (condition.inputs && static_cast<std::int64_t>(node.inputs.size()) != *condition.inputs)
      return Unmet{"operand_not_covered",
                   fmt::format("{} has {} operands; the pattern requires {}", quoted_name(graph_, number), node.inputs.size(),
                               *condition.inputs),
                   number};
    if (condition.outputs && static_cast<std::int64_t>(node.outputs.size()) > *condition.outputs)
      return Unmet{"operand_not_covered",
                   fmt::format("{} has {} results; at most {} are available", quoted_name(graph_, number), node.outputs.size(),
                               *condition.outputs),
                   number};
    if (condition.inputs || condition.outputs) return std::nullopt;
    if (condition.operand) return operand(condition, node, number);
    const AttributeValue* const found = node.attribute(condition.attribute);
    if (condition.matrix_swap) return order(node, found, number);
    if (found == nullptr) return condition.last_axis ? axes_operand(condition, node, number) : std::nullopt;
    if (condition.spatial_pads) {
      const auto* widths = std::get_if<std::vector<std::int64_t>>(found);
      return widths == nullptr
                 ? std::nullopt
                 : pads(std::vector<double>(widths->begin(), widths->end()), "attribute " + condition.attribute, number);
    }
    if (condition.last_axis) return axis(condition, *found, node, number);
    const auto* const word = std::get_if<std::string>(found);
    const auto* const whole = std::get_if<std::int64_t>(found);
    const auto* const real = std::get_if<double>(found);
    const auto* const list = std::get_if<std::vector<std::int64_t>>(found);
    if (condition.not_all && list != nullptr &&
        std::all_of(list->begin(), list->end(), [&](std::int64_t one) { return one == *condition.not_all; }))
      return Unmet{"attribute_not_covered",
                   fmt::format("attribute {} of {} is {} throughout, where the pattern requires another value",
                               condition.attribute, quoted_name(graph_, number), *condition.not_all),
                   number};
    if (list != nullptr && !condition.values.empty()) {
      const auto is_known = [&](std::int64_t one) { return is_among(static_cast<double>(one), condition.values); };
      if (std::all_of(list->begin(), list->end(), is_known)) return std::nullopt;
      return Unmet{"attribute_not_covered",
                   fmt::format("attribute {} of {} is [{}]; the pattern requires {} throughout", condition.attribute,
                               quoted_name(graph_, number), fmt::join(*list, ", "), allowed(condition)),
                   number};
    }
    const bool known = word != nullptr ? std::find(condition.words.begin(), condition.words.end(), *word) != condition.words.end()
                       : whole != nullptr ? is_among(static_cast<double>(*whole), condition.values)
                       : real != nullptr  ? is_among(*real, condition.values)
                                          : true;
    if (known) return std::nullopt;
    return Unmet{"attribute_not_covered",
                 "attribute " + condition.attribute + " of " + quoted_name(graph_, number) + " is " +
                     (word != nullptr    ? *word
                      : whole != nullptr ? std::to_string(*whole)
                                         : fmt::format("{:.6g}", *real)) +
                     "; the pattern requires " + allowed(condition),
                 number};
  }

  [[nodiscard]] std::optional<Unmet> operand(const ValueCondition& condition, const Node& node, std::size_t number) const {
    const std::size_t at = place_of(condition.step, node, *condition.operand);
    if (at >= node.inputs.size() || !node.inputs[at].valid()) return std::nullopt;
    const TensorId id = node.inputs[at];
    const TensorDescriptor& tensor = graph_.tensor(id);
    const std::string what = "operand '" + tensor.name + "' of " + quoted_name(graph_, number);
    const std::int32_t producer = links_.producer[index_of(id)];
    if (condition.absent)
      return Unmet{
          "operand_not_covered",
          quoted_name(graph_, number) + " has the operand '" + tensor.name + "'; the pattern requires that it has none there",
          number};
    if (!condition.types.empty()) {
      if (tensor.type == ElementType::unknown)
        return not_checked(what + " is of unknown type; the pattern requires " + names_of(condition.types), number);
      if (condition.types.contains(tensor.type)) return std::nullopt;
      return Unmet{"type_not_covered",
                   what + " is " + std::string(to_string(tensor.type)) + "; the pattern requires " + names_of(condition.types),
                   number};
    }
    if (condition.quantised_bias) return unmet_bias(graph_, links_, node, id, number);
    if (condition.lowest || condition.same_as) return unmet_quantisation(graph_, links_, condition, match_, id, number);
    if (!condition.made_by.empty()) {
      if (is_made_by(condition, id)) return std::nullopt;
      const std::string made = producer >= 0
                                   ? "computed by " + graph_.nodes[static_cast<std::size_t>(producer)].qualified_type() + " " +
                                         quoted_name(graph_, static_cast<std::size_t>(producer))
                               : links_.constant[index_of(id)] ? "a constant"
                                                               : "an input of the graph";
      return Unmet{condition.reason,
                   what + " is " + made + "; the pattern requires the result of " + core::join(condition.made_by, " or "),
                   number};
    }
    if (!links_.constant[index_of(id)])
      return Unmet{"operand_not_constant",
                   what + " is " + (producer < 0 ? std::string("an input of the graph") : std::string("computed")) +
                       "; the pattern requires a constant",
                   number};
    const auto values = constant_values(graph_, id);
    if (condition.values.empty() && !condition.spatial_pads) return std::nullopt;
    if (!values)
      return not_checked(what + " has an unknown value; the pattern requires " +
                             (condition.spatial_pads ? std::string("widths that are not negative") : allowed(condition)),
                         number);
    if (condition.spatial_pads) return pads(*values, what, number);
    const auto other = std::find_if(values->begin(), values->end(), [&](double one) { return !is_among(one, condition.values); });
    if (other == values->end()) return std::nullopt;
    return Unmet{"value_not_covered",
                 fmt::format("{} {} {:.6g}; the pattern requires {}", what, values->size() == 1 ? "is" : "has the value", *other,
                             allowed(condition)),
                 number};
  }

  [[nodiscard]] bool is_made_by(const ValueCondition& condition, TensorId id) const {
    constexpr int kMaxThrough = 64;  // nodes in a row
    for (int passed = 0; passed < kMaxThrough && id.valid(); ++passed) {
      const std::int32_t producer = links_.producer[index_of(id)];
      if (producer < 0) return false;
      const Node& node = graph_.nodes[static_cast<std::size_t>(producer)];
      if (std::find(condition.made_by.begin(), condition.made_by.end(), node.qualified_type()) != condition.made_by.end())
        return true;
      if (!condition.through.contains(node.qualified_type()) || node.inputs.empty()) return false;
      id = node.inputs[0];
    }
    return false;
  }

  // From operator set 18 on the axes of a reduction are an operand.
  [[nodiscard]] std::optional<Unmet> axes_operand(const ValueCondition& condition, const Node& node, std::size_t number) const {
    if (condition.attribute != "axes" || node.inputs.size() < 2 || !node.inputs[1].valid()) return std::nullopt;
    const TensorId id = node.inputs[1];
    const std::string what = "operand '" + graph_.tensor(id).name + "' of " + quoted_name(graph_, number);
    const auto values = constant_values(graph_, id);
    if (!values || !links_.constant[index_of(id)]) return unknown_constant(links_, id, what, number);
    return axis(std::vector<std::int64_t>(values->begin(), values->end()), what, node, number);
  }

  [[nodiscard]] std::optional<Unmet> axis(const ValueCondition& condition, const AttributeValue& value, const Node& node,
                                          std::size_t number) const {
    const auto* const one = std::get_if<std::int64_t>(&value);
    const auto* const list = std::get_if<std::vector<std::int64_t>>(&value);
    const std::string what = "attribute " + condition.attribute + " of " + quoted_name(graph_, number);
    if (one != nullptr) return axis(std::vector<std::int64_t>{*one}, what, node, number);
    return list == nullptr ? std::nullopt : axis(*list, what, node, number);
  }

  [[nodiscard]] std::optional<Unmet> axis(const std::vector<std::int64_t>& axes, const std::string& what, const Node& node,
                                          std::size_t number) const {
    if (std::find(axes.begin(), axes.end(), -1) != axes.end()) return std::nullopt;
    const std::string is = fmt::format("{} is {}; the pattern requires the last axis", what, fmt::join(axes, ", "));
    const auto& shape = node.inputs.empty() || !node.inputs[0].valid() ? std::nullopt : graph_.tensor(node.inputs[0]).shape;
    if (!shape) return no_shape(is + ", and its operand has an unknown rank", number);
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(shape->size()) - 1) != axes.end()) return std::nullopt;
    return Unmet{"attribute_not_covered", is, number};
  }

  // Widths in front of and behind every axis: only of the axes behind the second one, none negative.
  [[nodiscard]] std::optional<Unmet> pads(const std::vector<double>& widths, const std::string& what, std::size_t number) const {
    const std::size_t axes = widths.size() / 2;
    const auto given = [&](const std::string& found) { return Unmet{"value_not_covered", what + " " + found, number}; };
    for (std::size_t axis = 0; axis < axes; ++axis)
      for (const double width : {widths[axis], widths[axis + axes]}) {
        if (width < 0) return given(fmt::format("has the width {:g}; the pattern requires none below 0", width));
        if (width > 0 && axis < 2)
          return given(fmt::format("pads axis {}; the pattern requires that only axes 2 and above are padded", axis));
      }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Unmet> order(const Node& node, const AttributeValue* found, std::size_t number) const {
    std::vector<std::int64_t> perm;
    if (const auto* list = found == nullptr ? nullptr : std::get_if<std::vector<std::int64_t>>(found)) {
      perm = *list;
    } else {
      if (node.inputs.empty() || !node.inputs[0].valid() || !graph_.tensor(node.inputs[0]).shape)
        return no_shape("the order of axes of " + quoted_name(graph_, number) + " is unknown, as is the rank of its operand",
                        number);
      perm.resize(graph_.tensor(node.inputs[0]).shape->size());
      std::iota(perm.rbegin(), perm.rend(), 0);
    }
    if (moves_matrix_only(perm)) return std::nullopt;
    return Unmet{
        "attribute_not_covered",
        fmt::format("attribute perm of {} is [{}]; the pattern requires that only the last two axes are exchanged, or that "
                    "axes 1 and above move to the front together",
                    quoted_name(graph_, number), fmt::join(perm, ", ")),
        number};
  }

  const Graph& graph_;
  const Links& links_;
  const FusionPattern& pattern_;
  const Match& match_;
};

}  // namespace

NodeRuleCheck::NodeRuleCheck(const Graph& graph, const NodeRules& rules)
    : graph_(graph), rules_(rules), links_(std::make_unique<const Links>(graph, Links::Shapes::known)) {}
NodeRuleCheck::NodeRuleCheck(NodeRuleCheck&&) noexcept = default;
NodeRuleCheck::~NodeRuleCheck() = default;

std::optional<NodeRefusal> NodeRuleCheck::unmet(std::size_t node) const {
  for (const FusionPattern& rule : rules_.rules) {
    const auto& ops = rule.steps.front().ops;
    if (std::find(ops.begin(), ops.end(), graph_.nodes[node].qualified_type()) == ops.end()) continue;
    if (auto unmet = first_unmet(graph_, *links_, rule, {{rule.steps.front().id, node}}, node); unmet && unmet->is_known)
      return NodeRefusal{std::move(unmet->reason), std::move(unmet->condition)};
  }
  return std::nullopt;
}

std::optional<Unmet> first_unmet_operand(const Graph& graph, const Links& links, const FusionPattern& pattern,
                                         const Match& match) {
  return Checker(graph, links, pattern, match).operands();
}

std::optional<Unmet> first_unmet(const Graph& graph, const Links& links, const FusionPattern& pattern, const Match& match,
                                 std::size_t anchor) {
  const Checker checker(graph, links, pattern, match);
  auto result = checker.result(anchor);
  if (result && result->is_known) return result;
  auto operands = checker.operands();
  return operands && (operands->is_known || !result) ? operands : result;
}

}  // namespace aaco::graph
