#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/shapes.h"

namespace aaco::graph {

// What a frontend reads: the graph, and what its file says beside it.
struct Source {
  Graph graph;
  SymbolRanges ranges;
  std::vector<std::string> assumptions;  // which of several programs was taken
};

}  // namespace aaco::graph
