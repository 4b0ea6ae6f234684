#pragma once

#include <cstdint>
#include <map>

#include "graph/graph.h"

namespace aaco::graph {

// The weights that training sets, as papers and model cards count them: constants of a floating-point type or of quantised
// integers that a node reads, each once, subgraphs included. Not among them: running statistics of batch normalisation, scalars,
// scales and zero points, wide integers (sizes, positions, token ids). Weights of two or four bits that an operator keeps packed
// in bytes count each (MatMulNBits of 7 billion weights has as many).
struct ParameterTotals {
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  std::map<ElementType, std::int64_t> types;  // elements by type
};
ParameterTotals count_parameters(const Graph& graph);

}  // namespace aaco::graph
