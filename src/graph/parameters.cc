#include "graph/parameters.h"

#include <algorithm>
#include <vector>

#include "graph/tensor_bytes.h"

namespace aaco::graph {
namespace {

bool weight_type(ElementType type) {
  return is_floating(type) || type == ElementType::int8 || type == ElementType::uint8 || type == ElementType::int4 ||
         type == ElementType::uint4 || type == ElementType::int2 || type == ElementType::uint2;
}

// PyTorch's: running statistics, scales and zero points, and buffers that are written over (caches).
bool is_aside_in_aten(std::string_view op, std::size_t input) {
  if (op.ends_with('_')) op.remove_suffix(1);
  if (op.find("batch_norm") != std::string_view::npos) return input == 3 || input == 4;
  for (const char* writer :
       {"copy", "fill", "index_copy", "index_put", "masked_scatter", "select_scatter", "slice_scatter", "zero"})
    if (op == writer) return input == 0;
  return false;
}

// Inputs that are read beside the weights: running statistics, scales, zero points, ratios, bounds.
bool is_aside(const Node& node, std::size_t input) {
  const std::string& op = node.op_type;
  if (node.domain == "aten") return is_aside_in_aten(op, input);
  if (node.domain == "quantized_decomposed") return input > 0;
  if (op == "BatchNormalization" || op == "BATCH_NORM") return input == 3 || input == 4;
  if (op == "QuantizeLinear" || op == "DequantizeLinear" || op == "Dropout" || op == "Clip" || op == "Resize" || op == "Upsample")
    return input > 0;
  if (op == "QLinearConv" || op == "QLinearMatMul") return input != 3 && input != 8;
  if (op == "MatMulInteger" || op == "ConvInteger") return input > 1;
  if (op == "MatMulNBits") return input > 1 && input != 5;
  if (op == "MatMulBnb4" || op == "GatherBlockQuantized") return input > 1;
  if (op == "DynamicQuantizeMatMul") return input == 2 || input == 3;
  if (op == "MatMulIntegerToFloat") return input > 1 && input != 6;
  if (op == "QGemm") return input != 0 && input != 3 && input != 6;
  if (op == "QAttention") return input == 3 || input == 4 || input == 6 || input == 7;
  // Tables of cosines and sines, which follow from positions.
  if (op == "GroupQueryAttention") return input == 7 || input == 8;
  if (op == "RotaryEmbedding") return node.domain == "com.microsoft" ? input == 2 || input == 3 : input == 1 || input == 2;
  if (op == "QMoE") return input == 3 || input == 6 || input == 9 || input > 10;
  return false;
}

// Frequencies of rotary positions, which are buffers of every model of Transformers that has some ("rotary_emb.inv_freq"), and
// what is computed from them ahead of time.
bool is_rotary(std::string_view tensor) {
  for (const std::string_view part : {"inv_freq", "cos_cached", "sin_cached", "cos_cache", "sin_cache"})
    if (tensor.find(part) != std::string_view::npos) return true;
  return false;
}

// Bits of a weight that lies with others in the bytes of an input; 0: each has an element of its own.
std::int64_t packed_bits(const Node& node, std::size_t input) {
  const std::string& op = node.op_type;
  std::int64_t bits = 0;
  if (op == "MatMulNBits" && input == 1) bits = node.int_or("bits", 4);
  if (op == "MatMulBnb4" && input == 1) bits = 4;
  if (op == "GatherBlockQuantized" && input == 0) bits = node.int_or("bits", 4);
  if (op == "QMoE" && (input == 2 || input == 5 || input == 8)) bits = node.int_or("expert_weight_bits", 4);
  return bits == 2 || bits == 4 ? bits : 0;
}

void add(const TensorDescriptor& tensor, std::int64_t packed_bits, ParameterTotals& totals) {
  constexpr std::int64_t kByte = 8;
  if (!weight_type(tensor.type)) return;
  const auto count = tensor_elements(tensor), bytes = tensor_bytes(tensor);
  if (!bytes || *count < 2) return;
  const bool packed = packed_bits > 0 && (tensor.type == ElementType::uint8 || tensor.type == ElementType::int8);
  std::int64_t elements = *count;
  if (packed && __builtin_mul_overflow(elements, kByte / packed_bits, &elements)) elements = INT64_MAX;
  add_size(totals.elements, elements);
  add_size(totals.bytes, *bytes);
  add_size(totals.types[!packed ? tensor.type : packed_bits == 2 ? ElementType::uint2 : ElementType::uint4], elements);
}

// Weights that nodes make from sizes alone stand in files whose weights were taken out (ConstantOfShape): once read, they count.
// Those that are computed from weights do not, for the weights do.
class MadeWeights {
 public:
  explicit MadeWeights(const Graph& graph) : graph_(graph), state_(graph.tensors.size(), State::activation) {
    for (const Initializer& initializer : graph.initializers)
      at(initializer.tensor) = is_floating(graph.tensor(initializer.tensor).type) ? State::from_weights : State::from_sizes;
  }
  void visit(const Node& node, ParameterTotals& totals) {
    const bool folded = node.op_type == "Constant" || (!node.inputs.empty() && node.op_type.find("Random") == std::string::npos &&
                                                       std::all_of(node.inputs.begin(), node.inputs.end(), [&](TensorId id) {
                                                         return !id.valid() || at(id) != State::activation;
                                                       }));
    const bool weights = node.op_type == "Constant" || std::any_of(node.inputs.begin(), node.inputs.end(), [&](TensorId id) {
                           return id.valid() && at(id) == State::from_weights;
                         });
    if (folded)
      for (const TensorId id : node.outputs)
        if (id.valid()) at(id) = weights ? State::from_weights : State::made;
    for (std::size_t input = 0; input < node.inputs.size() && !folded; ++input) {
      const TensorId id = node.inputs[input];
      if (!id.valid() || at(id) != State::made || is_aside(node, input)) continue;
      add(graph_.tensor(id), packed_bits(node, input), totals);
      at(id) = State::from_weights;  // counted
    }
  }

 private:
  enum class State { activation, from_sizes, from_weights, made };
  State& at(TensorId id) { return state_[static_cast<std::size_t>(id.value)]; }
  const Graph& graph_;
  std::vector<State> state_;
};

// Of each tensor: kUnread, or the bits of packed_bits().
constexpr std::int64_t kUnread = -1;

std::vector<std::int64_t> walk(const Graph& graph, ParameterTotals& totals) {
  std::vector<std::int64_t> read(graph.tensors.size(), kUnread);
  MadeWeights made(graph);
  for (const Node& node : graph.nodes) {
    made.visit(node, totals);
    for (std::size_t input = 0; input < node.inputs.size(); ++input)
      if (node.inputs[input].valid() && !is_aside(node, input))
        read[static_cast<std::size_t>(node.inputs[input].value)] = packed_bits(node, input);
    if (const auto* literal = node.attribute("value"); literal != nullptr && node.op_type == "Constant")
      if (const auto* tensor = std::get_if<TensorLiteral>(literal)) add(tensor->descriptor, 0, totals);
  }
  // What a body or a function's output takes from here cannot be seen by nodes of this graph alone.
  for (const Graph& body : graph.subgraphs) {
    const std::vector<std::int64_t> inside = walk(body, totals);
    for (const TensorId id : body.captured)
      for (const Initializer& initializer : graph.initializers)
        if (graph.tensor(initializer.tensor).name == body.tensor(id).name)
          read[static_cast<std::size_t>(initializer.tensor.value)] =
              std::max<std::int64_t>(0, inside[static_cast<std::size_t>(id.value)]);
  }
  for (const Initializer& initializer : graph.initializers) {
    if (is_rotary(graph.tensor(initializer.tensor).name)) continue;
    if (const std::int64_t bits = read[static_cast<std::size_t>(initializer.tensor.value)]; bits != kUnread)
      add(graph.tensor(initializer.tensor), bits, totals);
  }
  return read;
}

}  // namespace

ParameterTotals count_parameters(const Graph& graph) {
  ParameterTotals totals;
  walk(graph, totals);
  return totals;
}

}  // namespace aaco::graph
