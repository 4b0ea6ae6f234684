#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/cost.h"
#include "graph/fuse.h"
#include "graph/graph.h"

namespace aaco::estimation {

// A fusion as an analysis needs it: which nodes have no kernel of their own, and what the others do besides their own work.
struct FusedKernels {
  struct Kernel {
    std::vector<std::string> op_types;  // of the nodes that run with it, in order
    double flops = 0;                   // theirs
    double bytes = 0;                   // theirs, less what is neither written nor read again; may be negative
  };
  std::set<const graph::Node*> gone;
  std::map<const graph::Node*, Kernel> by_main;  // by the group's node with the most work
};
// `graph` is the one that was fused, `cost` its cost.
FusedKernels fused_kernels(const graph::Graph& graph, const graph::GraphCost& cost, const graph::Fusion& fusion);

}  // namespace aaco::estimation
