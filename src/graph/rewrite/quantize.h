#pragma once

#include <cstdint>

#include "core/result.h"
#include "graph/graph.h"

namespace aaco::graph::rewrite {

// Those that a pass below would change; `min_opset`: of the standard operators that it puts in.
std::int64_t count_matrix_products(const Graph& graph, std::int64_t min_opset = 0);
inline constexpr std::int64_t kDynamicMinOpset = 11;  // of DynamicQuantizeLinear

// Matrix products with constant weights in 8-bit integers: weights per column and symmetric, inputs per call
// (DynamicQuantizeLinear, MatMulInteger; ONNX opset 11). Answers the number of products.
core::Result<std::int64_t> quantize_dynamically(Graph& graph);

// Only the weights, in blocks of 32 along the rows (MatMulNBits of com.microsoft). `bits`: 4 or 8.
core::Result<std::int64_t> quantize_weights(Graph& graph, int bits);

}  // namespace aaco::graph::rewrite
