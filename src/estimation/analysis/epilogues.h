#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/cost.h"
#include "graph/graph.h"

namespace aaco::estimation {

// What every runtime does to a graph before it runs it: batch normalisation is folded into the product or convolution before it,
// and elementwise operators that alone read its result run in the same kernel (its epilogue).
struct Epilogues {
  struct Fused {
    std::vector<std::string> op_types;  // in order
    double extra_read_bytes = 0;        // operands that the product does not have: the other side of a residual sum
  };
  std::set<const graph::Node*> gone;           // no kernel of their own
  std::map<const graph::Node*, Fused> behind;  // by the product they run with
};
Epilogues find_epilogues(const graph::GraphCost& cost);

}  // namespace aaco::estimation
