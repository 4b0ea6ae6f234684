#pragma once

#include <cstdint>

#include "core/result.h"
#include "graph/graph.h"

namespace aaco::graph::rewrite {

inline constexpr std::int64_t kHalfMinOpset = 11;  // below, Clip has its limits as attributes and others do not accept float16

// Convolutions and matrix products of float32 whose operator set accepts float16.
std::int64_t count_half_sites(const Graph& graph);

// Nodes of float32 compute in float16, with a Cast wherever a float32 value comes in or goes out; inputs and outputs of the model
// keep their type. A node with a constant that float16 cannot represent (above 65,504, or not finite) stays as it is. Numbers
// below the smallest normal one (6.1e-5) become zero. Answers the number of nodes.
core::Result<std::int64_t> convert_to_half(Graph& graph);

}  // namespace aaco::graph::rewrite
