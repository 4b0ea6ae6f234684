#include "graph/constant_values.h"

#include <cmath>
#include <cstring>

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

// IEEE 754 binary16.
double half_value(std::uint16_t bits) {
  constexpr int kMantissaBits = 10, kBias = 15, kSpecial = 31;
  const int exponent = (bits >> kMantissaBits) & kSpecial;
  const int mantissa = bits & ((1 << kMantissaBits) - 1);
  double value = 0;
  if (exponent == kSpecial)
    value = mantissa == 0 ? HUGE_VAL : std::nan("");
  else if (exponent == 0)
    value = std::ldexp(mantissa, 1 - kBias - kMantissaBits);
  else
    value = std::ldexp(mantissa + (1 << kMantissaBits), exponent - kBias - kMantissaBits);
  return (bits & 0x8000U) != 0 ? -value : value;
}

std::optional<std::vector<double>> values_of(const Constant& constant, ElementType type) {
  if (constant.data.empty()) return std::nullopt;
  switch (type) {
    case ElementType::float32: return elements_of<float>(constant.data);
    case ElementType::float64: return elements_of<double>(constant.data);
    case ElementType::int64: return elements_of<std::int64_t>(constant.data);
    case ElementType::int32: return elements_of<std::int32_t>(constant.data);
    case ElementType::int16: return elements_of<std::int16_t>(constant.data);
    case ElementType::int8: return elements_of<std::int8_t>(constant.data);
    case ElementType::uint8:
    case ElementType::boolean: return elements_of<std::uint8_t>(constant.data);
    case ElementType::float16: {
      std::vector<double> out;
      for (const double bits : elements_of<std::uint16_t>(constant.data))
        out.push_back(half_value(static_cast<std::uint16_t>(bits)));
      return out;
    }
    default: return std::nullopt;
  }
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

std::optional<std::vector<double>> constant_values(const Graph& graph, TensorId id) {
  for (const Initializer& one : graph.initializers)
    if (one.tensor == id) return values_of(one.constant, graph.tensor(id).type);
  for (const Node& node : graph.nodes)
    if (node.op_type == "Constant" && !node.outputs.empty() && node.outputs[0] == id) return values_of(node);
  return std::nullopt;
}

}  // namespace aaco::graph
