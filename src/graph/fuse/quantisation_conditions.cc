#include "graph/fuse/quantisation_conditions.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/constant_values.h"

namespace aaco::graph {
namespace {

// The least value of an integer type; of the others 0.
double least_of(ElementType type) {
  switch (type) {
    case ElementType::int8: return -128;
    case ElementType::int16: return -32768;
    default: return 0;
  }
}

// The values of what cannot be replaced by a caller.
std::optional<std::vector<double>> fixed_values(const Graph& graph, const Links& links, TensorId id) {
  auto values = links.constant[index_of(id)] ? constant_values(graph, id) : std::nullopt;
  return values && values->empty() ? std::nullopt : values;
}

}  // namespace

std::optional<Unmet> unmet_quantisation(const Graph& graph, const Links& links, const ValueCondition& condition,
                                        const Match& match, TensorId id, std::size_t number) {
  const std::string what = "operand '" + graph.tensor(id).name + "' of " + quoted_name(graph, number);
  const auto values = fixed_values(graph, links, id);
  if (condition.lowest) {
    if (!values) return unknown_constant(links, id, what, number);
    const double least = least_of(graph.tensor(id).type);
    const auto other = std::find_if(values->begin(), values->end(), [&](double one) { return one != least; });
    if (other == values->end()) return std::nullopt;
    return Unmet{
        "quantisation_differs",
        fmt::format("{} is {:g}; the pattern requires {:g}, the least {}", what, *other, least, to_string(graph.tensor(id).type)),
        number};
  }
  const auto step = match.find(condition.same_as->first);
  if (step == match.end() || condition.same_as->second >= graph.nodes[step->second].inputs.size()) return std::nullopt;
  const TensorId twin = graph.nodes[step->second].inputs[condition.same_as->second];
  if (twin == id || !twin.valid()) return std::nullopt;
  const auto there = fixed_values(graph, links, twin);
  if (!values) return unknown_constant(links, id, what, number);
  if (!there)
    return unknown_constant(links, twin, "operand '" + graph.tensor(twin).name + "' of " + quoted_name(graph, step->second),
                            number);
  if (*values == *there) return std::nullopt;
  const auto text = [](const std::vector<double>& list) {
    return list.size() == 1 ? fmt::format("{:.6g}", list[0]) : fmt::format("{} values", list.size());
  };
  return Unmet{"quantisation_differs",
               fmt::format("{} is {} and '{}' of {} {}; the pattern requires the same", what, text(*values),
                           graph.tensor(twin).name, quoted_name(graph, step->second), text(*there)),
               number, true, step->second};
}

std::optional<Unmet> unmet_bias(const Graph& graph, const Links& links, const Node& node, TensorId id, std::size_t number) {
  const std::string what = "operand '" + graph.tensor(id).name + "' of " + quoted_name(graph, number);
  const auto maker = [&](TensorId tensor) -> const Node* {
    const std::int32_t producer = tensor.valid() ? links.producer[index_of(tensor)] : -1;
    const Node* made = producer < 0 ? nullptr : &graph.nodes[static_cast<std::size_t>(producer)];
    return made != nullptr && made->op_type == "DequantizeLinear" && made->inputs.size() > 1 ? made : nullptr;
  };
  const Node* const own = maker(id);
  if (own == nullptr && !links.constant[index_of(id)]) return unknown_constant(links, id, what, number);
  double product = 1;
  for (const TensorId operand : {node.inputs[0], node.inputs[1]}) {
    const Node* const made = maker(operand);
    if (made == nullptr) return std::nullopt;
    const TensorId scale = made->inputs[1];
    const auto values = fixed_values(graph, links, scale);
    if (!values)
      return unknown_constant(links, scale,
                              "the scale '" + graph.tensor(scale).name + "' of operand '" + graph.tensor(operand).name + "' of " +
                                  quoted_name(graph, number),
                              number);
    product *= values->front();
  }
  if (own == nullptr) return std::nullopt;
  const auto given = fixed_values(graph, links, own->inputs[1]);
  if (!given)
    return unknown_constant(links, own->inputs[1], "the scale '" + graph.tensor(own->inputs[1]).name + "' of " + what, number);
  if (is_among(given->front(), {product})) return std::nullopt;
  return Unmet{"quantisation_differs",
               fmt::format("{} has the scale {:.6g}; the pattern requires {:.6g}, the product of those of the other two operands",
                           what, given->front(), product),
               number};
}

}  // namespace aaco::graph
