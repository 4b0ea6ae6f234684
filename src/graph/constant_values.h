#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace aaco::graph {

// Dense little-endian elements as numbers; empty where the type is neither a number nor a boolean. A part of an element at the
// end is left out.
std::optional<std::vector<double>> numbers_of(const std::vector<std::byte>& data, ElementType type);

// The elements of an initializer or of a Constant node, row-major; empty where they are not at hand (large weights) or neither
// numbers nor booleans.
std::optional<std::vector<double>> constant_values(const Graph& graph, TensorId id);

}  // namespace aaco::graph
