#include "graph/catalogue/value.h"

#include <cmath>

#include "graph/constant_values.h"

namespace aaco::graph {

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
  const auto numbers = numbers_of(constant.data, descriptor.type);
  if (!numbers) return std::nullopt;
  for (const double number : *numbers) value.elements.emplace_back(number);
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
