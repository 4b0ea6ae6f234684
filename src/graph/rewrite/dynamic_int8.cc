#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "graph/rewrite/matrix_weights.h"
#include "graph/rewrite/quantize.h"
#include "graph/rewrite/value_bytes.h"

namespace aaco::graph::rewrite {
namespace {

constexpr float kMaxInt8 = 127;

struct QuantizedInput {
  TensorId values, scale, zero;
};
struct QuantizedMatrix {
  TensorId values, scales;
};

class DynamicQuantizer {
 public:
  explicit DynamicQuantizer(Edit& edit) : edit_(edit) {}

  core::Status convert(const MatrixProduct& product) {
    const Graph& graph = edit_.graph();
    const std::string name = graph.tensor(product.output).name + "/int8";
    AACO_ASSIGN(const QuantizedMatrix weight, matrix(product));
    std::vector<Node> nodes;
    const QuantizedInput input = converted(product.input, nodes);
    const TensorId sum = edit_.add_tensor(name + "/sum", ElementType::int32);
    const TensorId real = edit_.add_tensor(name + "/float", ElementType::float32);
    const TensorId scale = edit_.add_tensor(name + "/scale", ElementType::float32);
    nodes.push_back({name + "/product", "MatMulInteger", "", {input.values, weight.values, input.zero}, {sum}, {}});
    nodes.push_back({name + "/cast", "Cast", "", {sum}, {real}, {{"to", onnx_number(ElementType::float32)}}});
    nodes.push_back({name + "/scales", "Mul", "", {input.scale, weight.scales}, {scale}, {}});
    const TensorId out = product.bias.valid() ? edit_.add_tensor(name + "/scaled", ElementType::float32) : product.output;
    nodes.push_back({name, "Mul", "", {real, scale}, {out}, {}});
    if (product.bias.valid()) nodes.push_back(bias_node(product, out, name));
    edit_.replace(product.node, std::move(nodes));
    return {};
  }

 private:
  // Products of one input share its conversion, which stands before the first of them.
  QuantizedInput converted(TensorId input, std::vector<Node>& nodes) {
    const auto known = inputs_.find(input.value);
    if (known != inputs_.end()) return known->second;
    const std::string name = edit_.graph().tensor(input).name + "/int8";
    QuantizedInput made{edit_.add_tensor(name, ElementType::uint8), edit_.add_tensor(name + "/scale", ElementType::float32),
                        edit_.add_tensor(name + "/zero", ElementType::uint8)};
    nodes.push_back({name, "DynamicQuantizeLinear", "", {input}, {made.values, made.scale, made.zero}, {}});
    return inputs_[input.value] = made;
  }

  core::Result<QuantizedMatrix> matrix(const MatrixProduct& product) {
    const auto key = std::pair(product.weight.value, product.transposed);
    if (const auto known = matrices_.find(key); known != matrices_.end()) return known->second;
    AACO_ASSIGN(const std::vector<float> weights, read_columns(edit_, product));
    const auto rows = static_cast<std::size_t>(product.rows), columns = static_cast<std::size_t>(product.columns);
    std::vector<std::int8_t> values(weights.size());
    std::vector<float> scales(columns, 1);
    for (std::size_t column = 0; column < columns; ++column) {
      const std::span<const float> run(weights.data() + column * rows, rows);
      float largest = 0;
      for (const float weight : run) largest = std::max(largest, std::abs(weight));
      if (largest > 0) scales[column] = largest / kMaxInt8;
      for (std::size_t row = 0; row < rows; ++row)
        values[row * columns + column] =
            static_cast<std::int8_t>(std::lround(std::clamp(run[row] / scales[column], -kMaxInt8, kMaxInt8)));
    }
    const std::string name = edit_.graph().tensor(product.weight).name + "/int8";
    const QuantizedMatrix made{edit_.add_constant(name, ElementType::int8, {product.rows, product.columns}, dense_bytes(values)),
                               edit_.add_constant(name + "/scale", ElementType::float32, {product.columns}, dense_bytes(scales))};
    return matrices_[key] = made;
  }

  Edit& edit_;
  std::map<std::int64_t, QuantizedInput> inputs_;
  std::map<std::pair<std::int64_t, bool>, QuantizedMatrix> matrices_;
};

}  // namespace

std::int64_t count_matrix_products(const Graph& graph, std::int64_t min_opset) {
  Graph unchanged = graph;
  const auto opset = graph.opsets.find("");
  return opset == graph.opsets.end() || opset->second < min_opset
             ? 0
             : static_cast<std::int64_t>(find_matrix_products(Edit(unchanged)).size());
}

core::Result<std::int64_t> quantize_dynamically(Graph& graph) {
  Edit edit(graph);
  DynamicQuantizer quantizer(edit);
  const auto products = find_matrix_products(edit);
  for (const MatrixProduct& product : products) AACO_TRY(quantizer.convert(product));
  edit.finish();
  return static_cast<std::int64_t>(products.size());
}

}  // namespace aaco::graph::rewrite
