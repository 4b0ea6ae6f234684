#include "graph/rewrite/matrix_weights.h"

#include <cstring>
#include <optional>

#include "graph/file_weights.h"

namespace aaco::graph::rewrite {
namespace {

constexpr std::int64_t kMinWeights = 1024;

bool is_plain_gemm(const Node& node) {
  return node.op_type == "Gemm" && node.int_or("transA", 0) == 0 && node.float_or("alpha", 1) == 1 &&
         node.float_or("beta", 1) == 1;
}

std::optional<MatrixProduct> product_of(const Edit& edit, std::size_t at) {
  const Node& node = edit.graph().nodes[at];
  if (!node.domain.empty() || node.inputs.size() < 2 || node.outputs.size() != 1 ||
      (node.op_type != "MatMul" && !is_plain_gemm(node)))
    return std::nullopt;
  const Initializer* weight = edit.constant(node.inputs[1]);
  if (weight == nullptr || (weight->constant.data.empty() && !weight->constant.location)) return std::nullopt;
  const TensorDescriptor& tensor = edit.graph().tensor(node.inputs[1]);
  if (tensor.type != ElementType::float32 || !tensor.shape || tensor.shape->size() != 2) return std::nullopt;
  MatrixProduct product{at, node.inputs[0], node.inputs[1], {}, node.outputs[0], 0, 0, node.int_or("transB", 0) != 0};
  product.rows = (*tensor.shape)[product.transposed ? 1 : 0].size;
  product.columns = (*tensor.shape)[product.transposed ? 0 : 1].size;
  if (node.op_type == "Gemm" && node.inputs.size() > 2) product.bias = node.inputs[2];
  return product.rows * product.columns >= kMinWeights ? std::optional(product) : std::nullopt;
}

}  // namespace

std::vector<MatrixProduct> find_matrix_products(const Edit& edit) {
  std::vector<MatrixProduct> found;
  for (std::size_t at = 0; at < edit.graph().nodes.size(); ++at)
    if (const auto product = product_of(edit, at)) found.push_back(*product);
  return found;
}

core::Result<std::vector<float>> read_columns(const Edit& edit, const MatrixProduct& product) {
  AACO_ASSIGN(const core::SharedBytes bytes, onnx::read_constant(edit.constant(product.weight)->constant));
  const auto rows = static_cast<std::size_t>(product.rows), columns = static_cast<std::size_t>(product.columns);
  if (bytes.size() != rows * columns * sizeof(float))
    return core::fail(core::ErrorCode::invalid_input,
                      "the weight '" + edit.graph().tensor(product.weight).name + "' has fewer bytes than its shape requires");
  std::vector<float> stored(rows * columns);
  std::memcpy(stored.data(), bytes.data(), bytes.size());
  if (product.transposed) return stored;
  std::vector<float> turned(stored.size());
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column) turned[column * rows + row] = stored[row * columns + column];
  return turned;
}

Node bias_node(const MatrixProduct& product, TensorId sum, const std::string& name) {
  return {name + "/bias", "Add", "", {sum, product.bias}, {product.output}, {}};
}

}  // namespace aaco::graph::rewrite
