#pragma once

#include <vector>

#include "graph/cost.h"

namespace aaco::graph {

// What `graph` asks for in a newer version than the catalogue was written from, by domain; `nodes` are all of its nodes.
std::vector<NewerVersion> newer_versions(const Graph& graph, const std::vector<CostedNode>& nodes);

}  // namespace aaco::graph
