#include "graph/fuse/kept_nodes.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/constant_values.h"
#include "graph/fuse/computed_shape.h"
#include "graph/fuse/conditions.h"

namespace aaco::graph {
namespace {

// A cut of an axis of open size at fewer elements than this is meant to leave some out; at more it is a guard.
constexpr double kGuardFrom = 128;

bool is_known(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dimension& one) { return one.fixed() || !one.symbol.empty(); });
}

bool is_unsigned(ElementType type) {
  return type == ElementType::uint8 || type == ElementType::uint16 || type == ElementType::uint32 || type == ElementType::uint64;
}

// Bits that a type has for whole numbers, without the sign; of a real one those of its significand, all of which it holds
// exactly.
int whole_bits(ElementType type) {
  switch (type) {
    case ElementType::boolean: return 1;
    case ElementType::bfloat16: return 8;
    case ElementType::float16: return 11;
    case ElementType::float32: return 24;
    case ElementType::float64: return 53;
    default: return element_bits(type) - (is_unsigned(type) ? 0 : 1);
  }
}

// Whether every value of `inner` is one of `outer`.
bool holds(ElementType outer, ElementType inner) {
  if (outer == inner) return true;
  if (is_floating(inner))
    return is_floating(outer) && whole_bits(outer) > whole_bits(inner) && element_bits(outer) > element_bits(inner);
  const bool has_sign = !is_unsigned(inner) && inner != ElementType::boolean;
  if (!is_floating(outer) && has_sign && (is_unsigned(outer) || outer == ElementType::boolean)) return false;
  return whole_bits(outer) >= whole_bits(inner);
}

class KeptNodes {
 public:
  KeptNodes(const Graph& graph, const Links& links) : graph_(graph), links_(links) {}

  [[nodiscard]] bool is_about(const Elimination& one, std::size_t number) const {
    const Node& node = graph_.nodes[number];
    const std::string name = node.qualified_type();
    const auto& ops = one.pattern.steps[0].ops;
    if (node.outputs.empty() || !node.outputs[0].valid() || one.except.contains(name)) return false;
    if (!ops.empty() && std::find(ops.begin(), ops.end(), name) == ops.end()) return false;
    switch (one.expected) {
      case Expected::always: return !only_names(node);
      case Expected::same_type: return type_of(node, 0) == result_of(node) && result_of(node) != ElementType::unknown;
      case Expected::round_trip: return converts_back(node);
      case Expected::neutral: return is_neutral(node);
      case Expected::whole: return is_whole(node);
      case Expected::unchanged: return is_unchanged(node);
      case Expected::one_operand: return node.inputs.size() == 1;
      case Expected::constants: return is_constant(one, node);
      case Expected::computed_shape: return computed_shape(graph_, links_, number).has_value();
    }
    return false;
  }

  [[nodiscard]] NearMiss judge(const Elimination& one, std::size_t number) const {
    NearMiss miss{one.pattern.name, one.pattern.level, {}, number, reader_of(number).value_or(number), {}, {number}, {}};
    miss.removal = number;
    if (one.expected == Expected::computed_shape) {
      shape(number, miss);
    } else if (!results(one, number, miss)) {
      if (const auto unmet = first_unmet(graph_, links_, one.pattern, {{one.pattern.steps[0].id, number}}, number)) {
        miss.reason = unmet->reason;
        miss.condition = unmet->condition;
      } else if (!operands(one, number, miss)) {
        whole(one, number, miss);
      }
    }
    return miss;
  }

 private:
  [[nodiscard]] ElementType type_of(const Node& node, std::size_t operand) const {
    return operand < node.inputs.size() && node.inputs[operand].valid() ? graph_.tensor(node.inputs[operand]).type
                                                                        : ElementType::unknown;
  }
  [[nodiscard]] ElementType result_of(const Node& node) const { return graph_.tensor(node.outputs[0]).type; }

  [[nodiscard]] const Node* maker_of(const Node& node) const {
    if (node.inputs.empty() || !node.inputs[0].valid() || links_.producer[index_of(node.inputs[0])] < 0) return nullptr;
    return &graph_.nodes[static_cast<std::size_t>(links_.producer[index_of(node.inputs[0])])];
  }

  // What an input of the graph or of a body is called as its output: it has to be there.
  [[nodiscard]] bool only_names(const Node& node) const {
    return links_.output[index_of(node.outputs[0])] && !node.inputs.empty() && node.inputs[0].valid() &&
           links_.producer[index_of(node.inputs[0])] < 0;
  }

  [[nodiscard]] bool converts_back(const Node& node) const {
    const Node* const maker = maker_of(node);
    return maker != nullptr && maker->qualified_type() == node.qualified_type() && type_of(*maker, 0) == result_of(node) &&
           type_of(node, 0) != result_of(node) && result_of(node) != ElementType::unknown;
  }

  [[nodiscard]] std::optional<std::vector<double>> values(const Node& node, std::size_t operand) const {
    if (operand >= node.inputs.size() || !node.inputs[operand].valid()) return std::nullopt;
    if (!links_.constant[index_of(node.inputs[operand])] && !is_replaceable(node.inputs[operand])) return std::nullopt;
    auto found = constant_values(graph_, node.inputs[operand]);
    return found && found->empty() ? std::nullopt : found;
  }

  [[nodiscard]] bool is_neutral(const Node& node) const {
    const bool is_sum = node.op_type == "Add" || node.op_type == "Sub";
    const auto is_all = [&](std::size_t operand) {
      const auto found = values(node, operand);
      return found && std::all_of(found->begin(), found->end(), [&](double one) { return one == (is_sum ? 0 : 1); });
    };
    return is_all(1) || (commutes(node) && is_all(0));
  }

  [[nodiscard]] bool is_whole(const Node& node) const {
    const auto starts = values(node, 1), ends = values(node, 2);
    const bool has_steps = node.inputs.size() > 4 && node.inputs[4].valid();
    const auto steps = has_steps ? values(node, 4) : std::vector<double>{1};
    const auto are = [](const auto& list, double wanted) {
      return list && std::all_of(list->begin(), list->end(), [&](double one) { return one == wanted; });
    };
    if (!are(starts, 0) || !are(steps, 1) || !ends || ends->size() != starts->size() || !node.inputs[0].valid()) return false;
    const bool has_axes = node.inputs.size() > 3 && node.inputs[3].valid();
    const auto axes = values(node, 3);
    if (has_axes && (!axes || axes->size() != ends->size())) return false;
    const auto& shape = graph_.tensor(node.inputs[0]).shape;
    for (std::size_t i = 0; i < ends->size(); ++i) {
      auto axis = static_cast<std::int64_t>(has_axes ? (*axes)[i] : static_cast<double>(i));
      if (shape && axis < 0) axis += static_cast<std::int64_t>(shape->size());
      const bool has_size = shape && axis >= 0 && axis < static_cast<std::int64_t>(shape->size()) &&
                            (*shape)[static_cast<std::size_t>(axis)].fixed();
      const double least = has_size ? static_cast<double>((*shape)[static_cast<std::size_t>(axis)].size) : kGuardFrom;
      if ((*ends)[i] < least) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_unchanged(const Node& node) const {
    if (node.inputs.empty() || !node.inputs[0].valid()) return false;
    const auto order = node.ints_or("perm", {});
    if (node.op_type == "Transpose" && (order.empty() || !std::is_sorted(order.begin(), order.end()))) return false;
    const TensorDescriptor &from = graph_.tensor(node.inputs[0]), &to = graph_.tensor(node.outputs[0]);
    return from.type == to.type && from.type != ElementType::unknown && from.shape && from.shape == to.shape &&
           is_known(*from.shape);
  }

  [[nodiscard]] bool is_replaceable(TensorId id) const {
    return std::find(graph_.overridable.begin(), graph_.overridable.end(), id) != graph_.overridable.end();
  }

  [[nodiscard]] bool is_constant(const Elimination& one, const Node& node) const {
    if (node.op_type == "Constant") return false;
    if (node.inputs.empty()) return one.undetermined.contains(node.qualified_type());
    const bool has_body = std::any_of(node.attributes.begin(), node.attributes.end(), [](const Attribute& attribute) {
      return std::holds_alternative<std::vector<SubgraphId>>(attribute.value);
    });
    return !has_body && std::all_of(node.inputs.begin(), node.inputs.end(), [&](TensorId id) {
      return !id.valid() || links_.constant[index_of(id)] || is_replaceable(id);
    });
  }

  [[nodiscard]] std::optional<std::size_t> reader_of(std::size_t number) const {
    for (const TensorId id : graph_.nodes[number].outputs)
      if (id.valid() && !links_.readers[index_of(id)].empty()) return links_.readers[index_of(id)].front();
    return std::nullopt;
  }

  // Results that are read, and must not be.
  bool results(const Elimination& one, std::size_t number, NearMiss& miss) const {
    for (const std::int64_t place : one.unread) {
      const auto& made = graph_.nodes[number].outputs;
      if (place >= static_cast<std::int64_t>(made.size()) || !made[static_cast<std::size_t>(place)].valid()) continue;
      const TensorId id = made[static_cast<std::size_t>(place)];
      const auto& readers = links_.readers[index_of(id)];
      if (readers.empty() && !links_.kept[index_of(id)]) continue;
      miss.reason = readers.empty() ? "graph_output" : "several_consumers";
      if (!readers.empty()) miss.second = readers.front();
      miss.condition = "result " + std::to_string(place) + " of " + quoted_name(graph_, number) + ", '" + graph_.tensor(id).name +
                       "', is " +
                       (readers.empty() ? "an output of the graph" : "read by " + quoted_name(graph_, readers.front())) +
                       "; the pattern requires that nothing reads it";
      return true;
    }
    return false;
  }

  bool operands(const Elimination& one, std::size_t number, NearMiss& miss) const {
    const Node& node = graph_.nodes[number];
    if (one.undetermined.contains(node.qualified_type())) {
      miss.reason = "not_deterministic";
      miss.condition =
          node.op_type + " " + quoted_name(graph_, number) + " has another result in every run; the pattern requires the same";
      return true;
    }
    if (one.expected == Expected::round_trip) return narrows(node, number, miss);
    if (one.expected != Expected::constants) return false;
    const auto found = std::find_if(node.inputs.begin(), node.inputs.end(),
                                    [&](TensorId id) { return id.valid() && !links_.constant[index_of(id)]; });
    if (found == node.inputs.end()) return false;
    miss.reason = "operand_not_constant";
    miss.condition = "operand '" + graph_.tensor(*found).name + "' of " + quoted_name(graph_, number) +
                     " is an initializer that is an input of the graph too; the pattern requires a constant";
    return true;
  }

  // Two conversions of which the first one cannot hold every value.
  bool narrows(const Node& node, std::size_t number, NearMiss& miss) const {
    const auto first = static_cast<std::size_t>(links_.producer[index_of(node.inputs[0])]);
    miss.first = first;
    miss.second = number;
    miss.nodes = {first, number};
    miss.removal = number;
    const ElementType middle = type_of(node, 0), ends = result_of(node);
    if (holds(middle, ends)) return false;
    miss.reason = "type_not_covered";
    miss.condition =
        fmt::format("{} converts {} to {}, which has only some of its values; the pattern requires a type that has all",
                    quoted_name(graph_, first), to_string(ends), to_string(middle));
    return true;
  }

  void whole(const Elimination& one, std::size_t number, NearMiss& miss) const {
    const auto& made = graph_.nodes[number].outputs;
    if (!one.pattern.lacks.empty()) {
      miss.reason = "operator_not_covered";
      miss.condition =
          graph_.nodes[number].op_type + " " + quoted_name(graph_, number) + " changes nothing; " + one.pattern.lacks;
    } else if (one.pattern.inner && links_.output[index_of(made[0])]) {
      miss.reason = "graph_output";
      miss.condition = "the result of " + quoted_name(graph_, number) + " is an output of the graph";
    }
  }

  void shape(std::size_t number, NearMiss& miss) const {
    const auto found = computed_shape(graph_, links_, number);
    miss.removal = found->joint;
    miss.nodes = {found->joint, number};
    miss.first = found->part.value_or(found->joint);
    miss.second = found->part ? found->joint : number;
    if (found->reason == "several_consumers" || found->reason == "graph_output") {
      miss.cause = found->part;
      miss.first = found->joint;
      miss.second = number;
    }
    miss.reason = found->reason;
    miss.condition = found->condition;
  }

  const Graph& graph_;
  const Links& links_;
};

}  // namespace

std::vector<NearMiss> kept_nodes(const Graph& graph, const Links& links, const std::vector<Elimination>& eliminations) {
  const KeptNodes kept(graph, links);
  std::vector<NearMiss> out;
  for (std::size_t number = 0; number < graph.nodes.size(); ++number) {
    const auto one = std::find_if(eliminations.begin(), eliminations.end(),
                                  [&](const Elimination& elimination) { return kept.is_about(elimination, number); });
    if (one != eliminations.end()) out.push_back(kept.judge(*one, number));
  }
  return out;
}

}  // namespace aaco::graph
