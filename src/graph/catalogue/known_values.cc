#include "graph/known_values.h"

#include <cmath>

#include "graph/catalogue/context.h"
#include "graph/catalogue/entry.h"

namespace aaco::graph {
namespace {

constexpr double kMaxExact = 9007199254740992.0;  // 2^53: beyond it, followed numbers saturate

bool is_whole_type(ElementType type) {
  return type == ElementType::int64 || type == ElementType::int32 || type == ElementType::boolean;
}

std::optional<KnownIntegers> exact_integers(ElementType type, const Value& value) {
  KnownIntegers out{type, value.dims, {}};
  for (const Element& element : value.elements) {
    if (!element.known || element.number != std::trunc(element.number) || std::abs(element.number) >= kMaxExact)
      return std::nullopt;
    out.elements.push_back(element.integer());
  }
  const auto count = element_count(Shape(value.dims.begin(), value.dims.end()));
  if (count != static_cast<std::int64_t>(out.elements.size())) return std::nullopt;
  return out;
}

}  // namespace

std::vector<std::optional<KnownIntegers>> known_integers(const Graph& graph) {
  Graph copy = graph;
  Values values(copy);
  std::vector<std::optional<KnownIntegers>> known(graph.tensors.size());
  for (const Node& node : copy.nodes) {
    const Entry* entry = find_entry(node.domain, node.op_type);
    const auto opset = copy.opsets.find(node.domain);
    if (entry == nullptr || entry->shape == nullptr || opset == copy.opsets.end()) continue;
    ShapeContext context(copy, node, values, opset->second);
    entry->shape(context);
    if (!context.problem().empty()) continue;
    fold(context);
    for (const TensorId id : node.outputs)
      if (const Value* value = values.find(id); value != nullptr && is_whole_type(copy.tensor(id).type))
        known[index_of(id)] = exact_integers(copy.tensor(id).type, *value);
  }
  return known;
}

}  // namespace aaco::graph
