#pragma once

#include <cstddef>
#include <vector>

#include "graph/graph.h"

namespace aaco::graph::rewrite {

// Nodes that pass their input on unchanged: Identity, Dropout, a Cast to the same type, a Transpose or Reshape that changes
// nothing, a Concat or Sum of one input, a Pad of zero width. A node that makes a model output, or a tensor that a body reads,
// stays.
std::vector<std::size_t> find_no_ops(const Graph& graph);
std::int64_t remove_no_ops(Graph& graph);

// Nodes of which neither a model output nor another node needs a result.
std::vector<std::size_t> find_dead_nodes(const Graph& graph);
std::int64_t remove_dead_nodes(Graph& graph);

// Nodes whose outputs are whole numbers that the graph alone decides, Constant nodes, and a Reshape or the like of a constant:
// they become constants.
std::vector<std::size_t> find_constant_nodes(const Graph& graph);
std::int64_t fold_constants(Graph& graph);

}  // namespace aaco::graph::rewrite
