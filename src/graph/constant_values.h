#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace aaco::graph {

// The elements of an initializer or of a Constant node, row-major; empty where they are not at hand (large weights) or neither
// numbers nor booleans.
std::optional<std::vector<double>> constant_values(const Graph& graph, TensorId id);

}  // namespace aaco::graph
