#pragma once

#include <vector>

#include "graph/fuse.h"
#include "graph/fuse/matcher.h"
#include "graph/near_miss.h"

namespace aaco::graph {

// The nodes that one may expect the compiler to do without, in their order, each by the first elimination that is about it, with
// what that one requires and the node does not have; `removal` is set. The graph's shapes are inferred.
std::vector<NearMiss> kept_nodes(const Graph& graph, const Links& links, const std::vector<Elimination>& eliminations);

}  // namespace aaco::graph
