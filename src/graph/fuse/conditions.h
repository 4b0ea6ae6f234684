#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "graph/fuse/matcher.h"

namespace aaco::graph {

// "'conv1'", or the operator and number of a node without a name.
std::string quoted_name(const Graph& graph, std::size_t node);

// What a match does not have of what its pattern requires besides its steps.
struct Unmet {
  std::string reason;     // id in data/rules/compiler.yaml
  std::string condition;  // what was found, and what the pattern requires
  std::size_t node = 0;   // that does not meet it
};
// The first of the type and operator set of the result (`anchor`), then the same as below.
std::optional<Unmet> first_unmet(const Graph& graph, const Links& links, const FusionPattern& pattern, const Match& match,
                                 std::size_t anchor);
// The first of the pattern's conditions on shapes, then of those on values.
std::optional<Unmet> first_unmet_operand(const Graph& graph, const Links& links, const FusionPattern& pattern,
                                         const Match& match);

}  // namespace aaco::graph
