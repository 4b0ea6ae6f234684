#include "graph/constant_values.h"

#include <cstring>

#include "core/half.h"

namespace aaco::graph {
namespace {

template <class T>
std::vector<double> elements_of(const std::vector<std::byte>& data) {
  std::vector<double> out(data.size() / sizeof(T));
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value{};
    std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<double>(value);
  }
  return out;
}

std::optional<std::vector<double>> values_of(const Constant& constant, ElementType type) {
  return constant.data.empty() ? std::nullopt : numbers_of(constant.data, type);
}

std::optional<std::vector<double>> values_of(const Node& constant) {
  if (const auto* value = constant.attribute("value"))
    if (const auto* literal = std::get_if<TensorLiteral>(value)) return values_of(literal->constant, literal->descriptor.type);
  if (const auto* value = constant.attribute("value_float"))
    if (const auto* one = std::get_if<double>(value)) return std::vector<double>{*one};
  if (const auto* value = constant.attribute("value_int"))
    if (const auto* one = std::get_if<std::int64_t>(value)) return std::vector<double>{static_cast<double>(*one)};
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<double>> numbers_of(const std::vector<std::byte>& data, ElementType type) {
  switch (type) {
    case ElementType::float32: return elements_of<float>(data);
    case ElementType::float64: return elements_of<double>(data);
    case ElementType::int64: return elements_of<std::int64_t>(data);
    case ElementType::int32: return elements_of<std::int32_t>(data);
    case ElementType::int16: return elements_of<std::int16_t>(data);
    case ElementType::int8: return elements_of<std::int8_t>(data);
    case ElementType::uint64: return elements_of<std::uint64_t>(data);
    case ElementType::uint32: return elements_of<std::uint32_t>(data);
    case ElementType::uint16: return elements_of<std::uint16_t>(data);
    case ElementType::uint8:
    case ElementType::boolean: return elements_of<std::uint8_t>(data);
    case ElementType::float16:
    case ElementType::bfloat16: {
      auto out = elements_of<std::uint16_t>(data);
      for (double& one : out) {
        const auto bits = static_cast<std::uint16_t>(one);
        one = type == ElementType::float16 ? core::from_half(bits) : static_cast<double>(core::from_bfloat16(bits));
      }
      return out;
    }
    default: return std::nullopt;
  }
}

std::optional<std::vector<double>> constant_values(const Graph& graph, TensorId id) {
  for (const Initializer& one : graph.initializers)
    if (one.tensor == id) return values_of(one.constant, graph.tensor(id).type);
  for (const Node& node : graph.nodes)
    if (node.op_type == "Constant" && !node.outputs.empty() && node.outputs[0] == id) return values_of(node);
  return std::nullopt;
}

}  // namespace aaco::graph
