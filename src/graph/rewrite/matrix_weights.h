#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/result.h"
#include "graph/rewrite/edit.h"

namespace aaco::graph::rewrite {

// A matrix product whose second operand is a constant float32 matrix: MatMul, or Gemm without scaling.
struct MatrixProduct {
  std::size_t node = 0;
  TensorId input, weight, bias, output;  // bias: not valid without one
  std::int64_t rows = 0, columns = 0;    // of the weight as it is multiplied: inputs x outputs
  bool transposed = false;               // stored as columns x rows
};
// Those with at least 1,024 weights; a smaller product is not worth a conversion of its input.
std::vector<MatrixProduct> find_matrix_products(const Edit& edit);

// The weight column by column: `columns` runs of `rows` values.
core::Result<std::vector<float>> read_columns(const Edit& edit, const MatrixProduct& product);

// The node that adds the product's bias to `sum` and makes its output.
Node bias_node(const MatrixProduct& product, TensorId sum, const std::string& name);

}  // namespace aaco::graph::rewrite
