#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"
#include "graph/graph.h"
#include "graph/shapes.h"

namespace aaco::graph {

// The dimension of an input that counts items where its name does not tell: the first, but the second where a recurrent operator
// reads the input with time first (RNN, GRU, LSTM of ONNX with layout 0).
std::size_t item_axis(const Graph& graph, TensorId input);

// The dimension of the inputs that counts items: one named so, else that of item_axis() of the first input where it is open
// ("INPUT#AXIS" where it has no name). Empty where every input has it fixed.
std::string batch_symbol(const Graph& graph);

// Adds the batch to `sizes`, with the items' dimensions that are open and unnamed. Fails with invalid_argument where the model
// fixes another batch, or `sizes` holds another.
core::Status bind_batch(const Graph& graph, std::int64_t batch, Bindings& sizes);

// How many items one call of a bound graph works on, and by what they were counted.
struct Items {
  std::int64_t count = 1;
  std::string counted_by;  // "'batch_size'", "dimension 1 of 'x'", "" where no input has dimensions
  bool operator==(const Items&) const = default;
};
// `symbol`: what batch_symbol() said before the graph was bound; empty: the first input's that has one.
Items items_of(const Graph& bound, const std::string& symbol, const Bindings& sizes);

}  // namespace aaco::graph
