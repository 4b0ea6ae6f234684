#include "graph/catalogue/value.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace aaco::graph {
namespace {

template <class T>
void read_as(const std::vector<std::byte>& data, std::vector<Element>& out) {
  for (std::size_t at = 0; at + sizeof(T) <= data.size(); at += sizeof(T)) {
    T item{};
    std::memcpy(&item, data.data() + at, sizeof item);
    out.emplace_back(static_cast<double>(item));
  }
}

// IEEE 754 binary16.
double half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(1024 + fraction, exponent - 25);
}

void read_halves(const std::vector<std::byte>& data, bool brain, std::vector<Element>& out) {
  for (std::size_t at = 0; at + 2 <= data.size(); at += 2) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, data.data() + at, sizeof bits);
    out.emplace_back(brain ? static_cast<double>(std::bit_cast<float>(std::uint32_t{bits} << 16)) : half(bits));
  }
}

}  // namespace

Element::Element(const Dimension& dimension)
    : number(static_cast<double>(dimension.size)), known(dimension.fixed()), symbol(dimension.symbol) {}

Element Element::unknown() {
  Element element;
  element.known = false;
  return element;
}

std::int64_t Element::integer() const {
  constexpr double kLargest = 9.2e18;
  if (!known || std::isnan(number)) return 0;
  if (number >= kLargest) return INT64_MAX;
  if (number <= -kLargest) return INT64_MIN;
  return static_cast<std::int64_t>(number);
}

Dimension Element::dimension() const {
  if (!known) return Dimension(symbol);
  return number < 0 || std::isnan(number) ? Dimension{} : Dimension(integer());
}

std::optional<Value> value_of(const TensorDescriptor& descriptor, const Constant& constant) {
  const auto count = descriptor.shape ? element_count(*descriptor.shape) : std::nullopt;
  if (!count || static_cast<std::size_t>(*count) > kMaxValueElements || (*count > 0 && constant.data.empty()))
    return std::nullopt;
  Value value;
  for (const Dimension& dimension : *descriptor.shape) value.dims.push_back(dimension.size);
  switch (descriptor.type) {
    case ElementType::int64: read_as<std::int64_t>(constant.data, value.elements); break;
    case ElementType::int32: read_as<std::int32_t>(constant.data, value.elements); break;
    case ElementType::int16: read_as<std::int16_t>(constant.data, value.elements); break;
    case ElementType::int8: read_as<std::int8_t>(constant.data, value.elements); break;
    case ElementType::uint64: read_as<std::uint64_t>(constant.data, value.elements); break;
    case ElementType::uint32: read_as<std::uint32_t>(constant.data, value.elements); break;
    case ElementType::uint16: read_as<std::uint16_t>(constant.data, value.elements); break;
    case ElementType::uint8:
    case ElementType::boolean: read_as<std::uint8_t>(constant.data, value.elements); break;
    case ElementType::float32: read_as<float>(constant.data, value.elements); break;
    case ElementType::float64: read_as<double>(constant.data, value.elements); break;
    case ElementType::float16: read_halves(constant.data, false, value.elements); break;
    case ElementType::bfloat16: read_halves(constant.data, true, value.elements); break;
    default: return std::nullopt;
  }
  if (static_cast<std::int64_t>(value.elements.size()) != *count) return std::nullopt;
  return value;
}

Shape shape_from(const Value& value) {
  Shape shape;
  for (const Element& element : value.elements) shape.push_back(element.dimension());
  return shape;
}

Value vector_value(const std::vector<Dimension>& elements) {
  Value value;
  value.dims = {static_cast<std::int64_t>(elements.size())};
  for (const Dimension& element : elements) value.elements.emplace_back(element);
  return value;
}

std::optional<std::vector<std::int64_t>> integers(const Value& value) {
  std::vector<std::int64_t> numbers;
  for (const Element& element : value.elements) {
    if (!element.known) return std::nullopt;
    numbers.push_back(element.integer());
  }
  return numbers;
}

}  // namespace aaco::graph
