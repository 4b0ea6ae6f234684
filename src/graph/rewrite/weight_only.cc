#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <span>

#include "graph/rewrite/matrix_weights.h"
#include "graph/rewrite/quantize.h"

namespace aaco::graph::rewrite {
namespace {

constexpr std::size_t kBlock = 32;           // weights that share a scale
constexpr std::int64_t kIntegerCompute = 4;  // MatMulNBits' accuracy_level: inputs as 8-bit integers where the runtime can
constexpr const char* kMicrosoft = "com.microsoft";

struct PackedMatrix {
  TensorId values, scales;
};

// One block of a column: its scale, and its weights as unsigned numbers around the middle of their range.
float pack_block(std::span<const float> weights, int bits, std::byte* out) {
  const int middle = 1 << (bits - 1);
  float largest = 0;  // with its sign: the range reaches one step further down than up
  for (const float weight : weights)
    if (std::abs(weight) > std::abs(largest)) largest = weight;
  const float scale = largest / static_cast<float>(-middle);
  for (std::size_t i = 0; i < kBlock; ++i) {
    const float weight = i < weights.size() ? weights[i] : 0;
    const long step = scale == 0 ? 0 : std::lround(weight / scale);
    const auto value = static_cast<unsigned>(std::clamp<long>(step + middle, 0, 2L * middle - 1));
    if (bits == 8)
      out[i] = static_cast<std::byte>(value);
    else
      out[i / 2] |= static_cast<std::byte>(value << (i % 2 * 4));
  }
  return scale;
}

core::Result<PackedMatrix> pack(Edit& edit, const MatrixProduct& product, int bits) {
  AACO_ASSIGN(const std::vector<float> weights, read_columns(edit, product));
  const auto rows = static_cast<std::size_t>(product.rows), columns = static_cast<std::size_t>(product.columns);
  const std::size_t blocks = (rows + kBlock - 1) / kBlock, block_bytes = kBlock * static_cast<std::size_t>(bits) / 8;
  std::vector<std::byte> packed(columns * blocks * block_bytes), scales(columns * blocks * sizeof(float));
  for (std::size_t at = 0; at < columns * blocks; ++at) {
    const std::size_t column = at / blocks, begin = at % blocks * kBlock;
    const std::span<const float> run(weights.data() + column * rows + begin, std::min(kBlock, rows - begin));
    const float scale = pack_block(run, bits, packed.data() + at * block_bytes);
    std::memcpy(scales.data() + at * sizeof(float), &scale, sizeof(float));
  }
  const std::string name = edit.graph().tensor(product.weight).name + "/int" + std::to_string(bits);
  const auto count = static_cast<std::int64_t>(blocks);
  return PackedMatrix{edit.add_constant(name, ElementType::uint8,
                                        {product.columns, count, static_cast<std::int64_t>(block_bytes)}, std::move(packed)),
                      edit.add_constant(name + "/scale", ElementType::float32, {product.columns * count}, std::move(scales))};
}

}  // namespace

core::Result<std::int64_t> quantize_weights(Graph& graph, int bits) {
  Edit edit(graph);
  const auto products = find_matrix_products(edit);
  std::map<std::pair<std::int64_t, bool>, PackedMatrix> packed;
  for (const MatrixProduct& product : products) {
    const auto key = std::pair(product.weight.value, product.transposed);
    if (!packed.contains(key)) {
      AACO_ASSIGN(packed[key], pack(edit, product, bits));
    }
    const PackedMatrix& matrix = packed[key];
    const std::string name = graph.tensor(product.output).name + "/int" + std::to_string(bits);
    const TensorId out = product.bias.valid() ? edit.add_tensor(name + "/product", ElementType::float32) : product.output;
    std::vector<Node> nodes{{name,
                             "MatMulNBits",
                             kMicrosoft,
                             {product.input, matrix.values, matrix.scales},
                             {out},
                             {{"K", product.rows},
                              {"N", product.columns},
                              {"bits", std::int64_t{bits}},
                              {"block_size", static_cast<std::int64_t>(kBlock)},
                              {"accuracy_level", kIntegerCompute}}}};
    if (product.bias.valid()) nodes.push_back(bias_node(product, out, name));
    edit.replace(product.node, std::move(nodes));
  }
  edit.finish();
  if (!products.empty()) graph.opsets.try_emplace(kMicrosoft, 1);
  return static_cast<std::int64_t>(products.size());
}

}  // namespace aaco::graph::rewrite
