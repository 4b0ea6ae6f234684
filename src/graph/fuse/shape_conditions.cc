#include "graph/fuse/shape_conditions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace aaco::graph {
namespace {

bool is_fixed_one(const Dimension& size) { return size == Dimension(1); }

bool is_per_channel(const Shape& shape) {
  if (shape.size() != 3 && (shape.size() != 4 || !is_fixed_one(shape[0]))) return false;
  return is_fixed_one(shape.end()[-1]) && is_fixed_one(shape.end()[-2]) && !is_fixed_one(shape.end()[-3]);
}

std::int64_t rank_of(const Graph& graph, const Node& node, std::size_t operand) {
  if (operand >= node.inputs.size() || !node.inputs[operand].valid() || !graph.tensor(node.inputs[operand]).shape)
    return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(graph.tensor(node.inputs[operand]).shape->size());
}

bool has_result_rank(const Graph& graph, const Node& node, std::int64_t least) {
  if (node.outputs.empty() || !node.outputs[0].valid()) return false;
  const auto& made = graph.tensor(node.outputs[0]).shape;
  return made && static_cast<std::int64_t>(made->size()) >= least;
}

bool same_shape(const Graph& graph, const Node& node, std::size_t operand, const TensorDescriptor& tensor) {
  if (operand >= node.inputs.size() || !node.inputs[operand].valid()) return true;
  const auto& other = graph.tensor(node.inputs[operand]).shape;
  const auto is_known = [](const Dimension& one) { return one.fixed() || !one.symbol.empty(); };
  return other && *other == *tensor.shape && std::all_of(other->begin(), other->end(), is_known);
}

// The operand that an `at_most` compares with, where the first one stands at `operand`.
std::size_t other_of(const RankCondition& condition, std::size_t operand) {
  return *condition.at_most == operand ? condition.operand : *condition.at_most;
}

std::string required(const RankCondition& condition) {
  if (!condition.ranks.empty())
    return fmt::format("rank {}", fmt::join(condition.ranks, " or ")) +
           (condition.result_from ? fmt::format(" for a result of rank {} and above", *condition.result_from) : "");
  if (condition.fixed_from) return "fixed sizes from rank " + std::to_string(*condition.fixed_from);
  if (condition.fixed_behind) return "fixed sizes at axis " + std::to_string(*condition.fixed_behind) + " and above";
  if (condition.same_as) return "the same shape";
  if (condition.per_channel) return std::string("[C, 1, 1] or [1, C, 1, 1]") + (condition.or_scalar ? " or a scalar" : "");
  if (condition.one_element) return *condition.one_element ? "one element" : "more than one element";
  return "at most the rank of its other operand";
}

// What was found of a known shape that is not as the condition has it, and what is required; empty: nothing.
std::string unfit(const Graph& graph, const RankCondition& condition, const Node& node, std::size_t operand,
                  const std::string& what) {
  const TensorDescriptor& tensor = graph.tensor(node.inputs[operand]);
  const auto rank = static_cast<std::int64_t>(tensor.shape->size());
  const auto text = [](const std::string& found, std::string_view key) {
    return found + "; the pattern requires " + std::string(key);
  };
  const std::string is = what + " is " + to_string(*tensor.shape);
  if (!condition.ranks.empty() && std::find(condition.ranks.begin(), condition.ranks.end(), rank) == condition.ranks.end())
    return text(what + " has rank " + std::to_string(rank), required(condition));
  if (condition.fixed_from && rank >= *condition.fixed_from && !element_count(*tensor.shape))
    return text(is, "fixed sizes from rank " + std::to_string(*condition.fixed_from));
  if (condition.fixed_behind)
    for (auto axis = static_cast<std::size_t>(*condition.fixed_behind); axis < tensor.shape->size(); ++axis)
      if (!(*tensor.shape)[axis].fixed())
        return text(is, "fixed sizes at axis " + std::to_string(*condition.fixed_behind) + " and above");
  if (condition.same_as && !same_shape(graph, node, *condition.same_as, tensor)) {
    const TensorDescriptor& other = graph.tensor(node.inputs[*condition.same_as]);
    if (other.shape) return text(is + " and '" + other.name + "' " + to_string(*other.shape), "the same shape");
  }
  if (condition.per_channel && !(condition.or_scalar && rank == 0) && !is_per_channel(*tensor.shape))
    return text(is, std::string("[C, 1, 1] or [1, C, 1, 1]") + (condition.or_scalar ? " or a scalar" : ""));
  const auto count = element_count(*tensor.shape);
  if (condition.one_element && count && (*count == 1) != *condition.one_element)
    return text(is, *condition.one_element ? "one element" : "more than one element");
  const std::int64_t most = condition.at_most ? rank_of(graph, node, other_of(condition, operand)) : rank;
  return rank > most ? text(is, "at most the rank of its other operand") : "";
}

}  // namespace

std::optional<Unmet> unmet_shape(const Graph& graph, const RankCondition& condition, std::size_t number, std::size_t operand) {
  const Node& node = graph.nodes[number];
  if (condition.result_from && !has_result_rank(graph, node, *condition.result_from)) return std::nullopt;
  if (operand >= node.inputs.size() || !node.inputs[operand].valid()) return std::nullopt;
  const TensorDescriptor& tensor = graph.tensor(node.inputs[operand]);
  const std::string what = "operand '" + tensor.name + "' of " + quoted_name(graph, number);
  if (!tensor.shape) return no_shape(what + " has no known rank; the pattern requires " + required(condition), number);
  if (auto text = unfit(graph, condition, node, operand, what); !text.empty())
    return Unmet{"shape_not_covered", std::move(text), number};
  const auto other = condition.same_as   ? condition.same_as
                     : condition.at_most ? std::optional(other_of(condition, operand))
                                         : std::nullopt;
  if (other && rank_of(graph, node, *other) == std::numeric_limits<std::int64_t>::max())
    return no_shape(
        "the other operand of " + quoted_name(graph, number) + " has no known rank; the pattern requires " + required(condition),
        number);
  if (condition.one_element && !element_count(*tensor.shape))
    return no_shape(what + " is " + to_string(*tensor.shape) + "; the pattern requires " + required(condition), number);
  const bool is_open = std::any_of(tensor.shape->begin(), tensor.shape->end(), [](const Dimension& one) { return !one.fixed(); });
  if (condition.same_as && is_open)
    return not_checked(what + " and its other operand are both " + to_string(*tensor.shape) +
                           ", as inferred here; the compiler may not infer it",
                       number);
  return std::nullopt;
}

}  // namespace aaco::graph
