#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"
#include "graph/graph.h"
#include "graph/shapes.h"

namespace aaco::graph {

// The dimension of the inputs that counts items: one named so, else the first dimension of the first input that has an open one
// ("INPUT#0" where it has no name). Empty where every input's first dimension is fixed.
std::string batch_symbol(const Graph& graph);

// Adds the batch to `sizes`, with the first dimensions that are open and unnamed. Fails with invalid_argument where the model
// fixes another batch, or `sizes` holds another.
core::Status bind_batch(const Graph& graph, std::int64_t batch, Bindings& sizes);

// How many items one call of a bound graph works on: the first dimension of the first input that has one.
std::int64_t batch_of(const Graph& graph);

}  // namespace aaco::graph
