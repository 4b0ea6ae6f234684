#pragma once

#include <cstddef>
#include <set>

#include "graph/graph.h"

namespace aaco::analytics::compiler {

// Whether the node's result is its first operand (or, of a sum or product, the one that is not the neutral constant), as shapes,
// types, attributes and constants tell. False where they do not.
bool is_no_operation(const graph::Graph& graph, const graph::Node& node);

// Transposes of which a later one turns back what an earlier one turned, with element-wise nodes between them at most.
std::set<std::size_t> cancelling_transposes(const graph::Graph& graph);

}  // namespace aaco::analytics::compiler
