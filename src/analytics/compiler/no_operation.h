#pragma once

#include <cstddef>

#include "graph/graph.h"

namespace aaco::analytics::compiler {

// Whether the node's result is its first operand (or, of a sum or product, the one that is not the neutral constant), as shapes,
// types, attributes and constants tell. False where they do not.
bool is_no_operation(const graph::Graph& graph, const graph::Node& node);

}  // namespace aaco::analytics::compiler
