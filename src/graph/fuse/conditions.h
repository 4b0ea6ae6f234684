#pragma once

#include <cstddef>
#include <optional>

#include "graph/fuse/matcher.h"
#include "graph/fuse/unmet.h"

namespace aaco::graph {

// The first of the type and operator set of the result (`anchor`), then the same as below. What is known not to be met comes
// before what cannot be checked.
std::optional<Unmet> first_unmet(const Graph& graph, const Links& links, const FusionPattern& pattern, const Match& match,
                                 std::size_t anchor);
// The first of the pattern's conditions on attributes, then of those on shapes, then of those on operands.
std::optional<Unmet> first_unmet_operand(const Graph& graph, const Links& links, const FusionPattern& pattern,
                                         const Match& match);

}  // namespace aaco::graph
