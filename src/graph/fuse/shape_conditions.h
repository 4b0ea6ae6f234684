#pragma once

#include <cstddef>
#include <optional>

#include "graph/fuse/unmet.h"

namespace aaco::graph {

// What `operand` of node `number` does not have of the condition on its shape; it is where the condition's operand stands.
std::optional<Unmet> unmet_shape(const Graph& graph, const RankCondition& condition, std::size_t number, std::size_t operand);

}  // namespace aaco::graph
