#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace aaco::graph {

// A number that a shape may be computed from; a symbol; or unknown. Integers are exact up to 2^53, beyond that they saturate: no
// size is that large, and the sentinels of Slice (the largest integers) stay large.
struct Element {
  double number = 0;
  bool known = true;
  std::string symbol;  // of one that is not known

  Element() = default;
  explicit Element(double value) : number(value) {}
  explicit Element(const Dimension& dimension);
  [[nodiscard]] Dimension dimension() const;  // unknown for what is negative
  [[nodiscard]] std::int64_t integer() const;
  static Element unknown();
};

// A small tensor of numbers that is followed through the graph.
struct Value {
  std::vector<std::int64_t> dims;
  std::vector<Element> elements;
};
inline constexpr std::size_t kMaxValueElements = 4096;    // that are computed from others
inline constexpr std::size_t kMaxHeldElements = 1 << 18;  // of one tensor: positions of a long text

// The numbers of a constant that was kept; empty for a large one and for types that are no numbers.
std::optional<Value> value_of(const TensorDescriptor& descriptor, const Constant& constant);
Value vector_value(const std::vector<Dimension>& elements);
// The sizes that its elements are.
Shape shape_from(const Value& value);
// All elements as integers; empty where one is not known.
std::optional<std::vector<std::int64_t>> integers(const Value& value);

}  // namespace aaco::graph
