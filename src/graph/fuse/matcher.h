#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/fuse.h"

namespace aaco::graph {

// Who makes and who reads each tensor.
struct Links {
  std::vector<std::int32_t> producer;             // by tensor: node, -1 for none
  std::vector<std::vector<std::size_t>> readers;  // by tensor: nodes
  std::vector<bool> constant;                     // by tensor: a weight, or computed from weights alone
  std::vector<bool> kept;                         // by tensor: an output of the graph, or read inside a body
  explicit Links(const Graph& graph);
};

// The nodes that fit a pattern whose last step is `anchor`, by step; a step that is left out has none.
using Match = std::map<std::string, std::size_t>;
std::optional<Match> match_pattern(const Graph& graph, const Links& links, const FusionPattern& pattern, std::size_t anchor);

}  // namespace aaco::graph
