#include "graph/graph.h"

#include "graph/tensor_bytes.h"

namespace aaco::graph {
namespace {

template <class T>
T value_or(const AttributeValue* value, T fallback) {
  if (value != nullptr)
    if (const T* held = std::get_if<T>(value)) return *held;
  return fallback;
}

}  // namespace

std::optional<std::int64_t> element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const Dimension& dimension : shape)
    if (!dimension.fixed() || __builtin_mul_overflow(count, dimension.size, &count)) return std::nullopt;
  return count;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const Dimension& dimension : shape) {
    if (text.size() > 1) text += ", ";
    text += dimension.fixed() ? std::to_string(dimension.size) : dimension.symbol.empty() ? "?" : dimension.symbol;
  }
  return text + "]";
}

const AttributeValue* Node::attribute(std::string_view key) const {
  for (const Attribute& candidate : attributes)
    if (candidate.name == key) return &candidate.value;
  return nullptr;
}

std::int64_t Node::int_or(std::string_view key, std::int64_t fallback) const { return value_or(attribute(key), fallback); }

double Node::float_or(std::string_view key, double fallback) const { return value_or(attribute(key), fallback); }

std::string Node::string_or(std::string_view key, std::string_view fallback) const {
  return value_or(attribute(key), std::string(fallback));
}

std::vector<std::int64_t> Node::ints_or(std::string_view key, std::vector<std::int64_t> fallback) const {
  return value_or(attribute(key), std::move(fallback));
}

TensorId Graph::add_tensor(TensorDescriptor descriptor) {
  tensors.push_back(std::move(descriptor));
  return TensorId{static_cast<std::int32_t>(tensors.size() - 1)};
}

ConstantTotals total_constants(const Graph& graph) {
  ConstantTotals totals;
  for (const Initializer& initializer : graph.initializers) {
    const TensorDescriptor& descriptor = graph.tensor(initializer.tensor);
    const auto bytes = tensor_bytes(descriptor);
    if (!bytes) continue;
    add_size(totals.elements, *tensor_elements(descriptor));
    add_size(totals.bytes, *bytes);
  }
  for (const Graph& body : graph.subgraphs) {
    const ConstantTotals inner = total_constants(body);
    add_size(totals.elements, inner.elements);
    add_size(totals.bytes, inner.bytes);
  }
  return totals;
}

}  // namespace aaco::graph
