#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "graph/rewrite.h"

namespace aaco::graph::rewrite {

inline constexpr std::int64_t kStaticMinOpset = 13;  // of DequantizeLinear with a scale per channel

// Convolutions and matrix products with constant weights that int8_static would quantize.
std::int64_t count_static_sites(const Graph& graph);

// The tensors whose ranges int8_static uses, by name.
std::vector<std::string> ranged_tensors(const Graph& graph);

// A batch normalization right after a convolution becomes part of its weights and bias.
core::Status fold_batch_norms(Graph& graph);

// Convolutions and matrix products with constant weights in 8-bit integers, inputs by fixed ranges: QuantizeLinear and
// DequantizeLinear around the operators, which the runtime fuses into integer kernels. Activations are uint8 per tensor, weights
// int8 per output channel and symmetric, biases int32. An activation function that the range implies (Relu, Clip from 0) goes.
// Fails with invalid_argument where no range is given. Answers the number of convolutions and products.
core::Result<std::int64_t> quantize_statically(Graph& graph, const ActivationRanges& ranges);

}  // namespace aaco::graph::rewrite
