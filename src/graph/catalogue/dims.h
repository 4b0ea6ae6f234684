#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "graph/graph.h"

// Arithmetic on dimensions. Sizes are computed; with symbols the answer is a symbol that names the formula, or unknown where that
// would grow long. A result below zero or beyond 64 bits is unknown.
namespace aaco::graph {

Dimension add(const Dimension& a, const Dimension& b);
Dimension subtract(const Dimension& a, const Dimension& b);
Dimension multiply(const Dimension& a, const Dimension& b);
Dimension divide(const Dimension& a, std::int64_t by);  // rounded down
// The same size, or the same symbol.
bool certainly_equal(const Dimension& a, const Dimension& b);
// NumPy's rule for one dimension; unknown where it cannot be told.
Dimension broadcast(const Dimension& a, const Dimension& b);
// The same for shapes; empty where two fixed sizes differ and neither is 1.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);
Dimension product(std::span<const Dimension> dims);
// `axis` of a tensor of that rank, from its end where it is negative; empty out of range.
std::optional<std::size_t> normal_axis(std::int64_t axis, std::size_t rank);

}  // namespace aaco::graph
