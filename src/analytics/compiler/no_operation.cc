#include "analytics/compiler/no_operation.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "graph/constant_values.h"
#include "graph/cost.h"

namespace aaco::analytics::compiler {
namespace {

using graph::Graph;
using graph::Node;
using graph::TensorId;

bool all_are(const std::optional<std::vector<double>>& values, double wanted) {
  return values && !values->empty() && std::all_of(values->begin(), values->end(), [&](double one) { return one == wanted; });
}

bool is_same_kind(const Graph& graph, TensorId from, TensorId to) {
  if (!from.valid() || !to.valid()) return false;
  const auto &before = graph.tensor(from), &after = graph.tensor(to);
  const auto is_known = [](const graph::Dimension& one) { return one.fixed() || !one.symbol.empty(); };
  return before.type == after.type && before.type != graph::ElementType::unknown && before.shape && before.shape == after.shape &&
         std::all_of(before.shape->begin(), before.shape->end(), is_known);
}

// x + 0, x - 0, x * 1, x / 1.
bool is_neutral(const Graph& graph, const Node& node) {
  const bool sum = node.op_type == "Add" || node.op_type == "Sub", product = node.op_type == "Mul" || node.op_type == "Div";
  if ((!sum && !product) || node.inputs.size() != 2 || !node.inputs[0].valid() || !node.inputs[1].valid()) return false;
  const bool either = node.op_type == "Add" || node.op_type == "Mul";
  for (const std::size_t place : {std::size_t{1}, std::size_t{0}})
    if ((place == 1 || either) && all_are(graph::constant_values(graph, node.inputs[place]), sum ? 0 : 1) &&
        is_same_kind(graph, node.inputs[1 - place], node.outputs[0]))
      return true;
  return false;
}

bool keeps_order(const Node& node) {
  const auto order = node.ints_or("perm", {});
  return !order.empty() && std::is_sorted(order.begin(), order.end());
}

bool is_among(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Of a Transpose that says it; null: it does not, or is none.
const std::vector<std::int64_t>* order_of_axes(const graph::Node& node) {
  const auto* perm = node.op_type == "Transpose" ? node.attribute("perm") : nullptr;
  return perm == nullptr ? nullptr : std::get_if<std::vector<std::int64_t>>(perm);
}

bool turns_back(const std::vector<std::int64_t>& turned, const std::vector<std::int64_t>& back) {
  if (turned.size() != back.size()) return false;
  for (std::size_t axis = 0; axis < back.size(); ++axis)
    if (back[axis] < 0 || static_cast<std::size_t>(back[axis]) >= turned.size() ||
        turned[static_cast<std::size_t>(back[axis])] != static_cast<std::int64_t>(axis))
      return false;
  return true;
}

}  // namespace

bool is_no_operation(const Graph& graph, const Node& node) {
  if (!node.domain.empty() || node.inputs.empty() || node.outputs.empty() || !node.outputs[0].valid()) return false;
  if (node.op_type == "Identity" || node.op_type == "Dropout") return true;
  if (is_neutral(graph, node)) return true;
  if (!is_same_kind(graph, node.inputs[0], node.outputs[0])) return false;
  if (is_among(node.op_type, {"Expand", "Reshape", "Cast", "Flatten", "Tile"})) return true;
  if (is_among(node.op_type, {"Concat", "Sum", "Max", "Min", "Mean"})) return node.inputs.size() == 1;
  if (node.op_type == "Transpose") return keeps_order(node);
  if (node.op_type == "Pad") return node.inputs.size() > 1 && all_are(graph::constant_values(graph, node.inputs[1]), 0);
  if (node.op_type != "Slice" || node.inputs.size() < 3) return false;
  // A result of the same size was cut at neither end; it may be turned around.
  if (node.inputs.size() < 5 || !node.inputs[4].valid()) return true;
  const auto steps = graph::constant_values(graph, node.inputs[4]);
  return steps && std::all_of(steps->begin(), steps->end(), [](double step) { return step == 1; });
}

std::set<std::size_t> cancelling_transposes(const graph::Graph& graph) {
  std::vector<std::vector<std::size_t>> readers(graph.tensors.size());
  for (std::size_t number = 0; number < graph.nodes.size(); ++number)
    for (const graph::TensorId id : graph.nodes[number].inputs)
      if (id.valid()) readers[graph::index_of(id)].push_back(number);
  std::set<std::size_t> found;
  for (std::size_t first = 0; first < graph.nodes.size(); ++first) {
    const auto* turned = order_of_axes(graph.nodes[first]);
    if (turned == nullptr) continue;
    std::vector<std::size_t> open{first};
    std::set<std::size_t> seen;
    for (std::size_t at = 0; at < open.size(); ++at) {
      const auto& outputs = graph.nodes[open[at]].outputs;
      if (outputs.empty() || !outputs[0].valid()) continue;
      for (const std::size_t reader : readers[graph::index_of(outputs[0])]) {
        const graph::Node& node = graph.nodes[reader];
        if (const auto* back = order_of_axes(node); back != nullptr && turns_back(*turned, *back))
          found.insert({first, reader});
        else if (graph::class_of(node) == graph::OperatorClass::elementwise && seen.insert(reader).second)
          open.push_back(reader);
      }
    }
  }
  return found;
}

}  // namespace aaco::analytics::compiler
