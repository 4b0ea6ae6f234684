#include "graph/parameters.h"

#include <algorithm>
#include <vector>

namespace aaco::graph {
namespace {

bool weight_type(ElementType type) {
  return is_floating(type) || type == ElementType::int8 || type == ElementType::uint8 || type == ElementType::int4 ||
         type == ElementType::uint4 || type == ElementType::int2 || type == ElementType::uint2;
}

// Inputs that are read beside the weights: running statistics, scales, zero points, ratios, bounds.
bool is_aside(const Node& node, std::size_t input) {
  const std::string& op = node.op_type;
  if (op == "BatchNormalization" || op == "BATCH_NORM") return input == 3 || input == 4;
  if (op == "QuantizeLinear" || op == "DequantizeLinear" || op == "Dropout" || op == "Clip" || op == "Resize" || op == "Upsample")
    return input > 0;
  if (op == "QLinearConv" || op == "QLinearMatMul") return input != 3 && input != 8;
  if (op == "MatMulInteger" || op == "ConvInteger") return input > 1;
  if (op == "MatMulNBits") return input > 1 && input != 5;
  return false;
}

void add(const TensorDescriptor& tensor, ParameterTotals& totals) {
  if (!weight_type(tensor.type) || !tensor.shape) return;
  const auto count = element_count(*tensor.shape);
  const auto bytes = count ? bytes_of(tensor.type, *count) : std::nullopt;
  if (!bytes || *count < 2) return;
  totals.elements += *count;
  totals.bytes += *bytes;
  totals.types[tensor.type] += *count;
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
      add(graph_.tensor(id), totals);
      at(id) = State::from_weights;  // counted
    }
  }

 private:
  enum class State { activation, from_sizes, from_weights, made };
  State& at(TensorId id) { return state_[static_cast<std::size_t>(id.value)]; }
  const Graph& graph_;
  std::vector<State> state_;
};

void walk(const Graph& graph, ParameterTotals& totals) {
  std::vector<bool> read(graph.tensors.size(), false);
  MadeWeights made(graph);
  for (const Node& node : graph.nodes) {
    made.visit(node, totals);
    for (std::size_t input = 0; input < node.inputs.size(); ++input)
      if (node.inputs[input].valid() && !is_aside(node, input)) read[static_cast<std::size_t>(node.inputs[input].value)] = true;
    if (const auto* literal = node.attribute("value"); literal != nullptr && node.op_type == "Constant")
      if (const auto* tensor = std::get_if<TensorLiteral>(literal)) add(tensor->descriptor, totals);
  }
  // What a body or a function's output takes from here cannot be seen by nodes of this graph alone.
  for (const Graph& body : graph.subgraphs) {
    walk(body, totals);
    for (const TensorId id : body.captured)
      for (const Initializer& initializer : graph.initializers)
        if (graph.tensor(initializer.tensor).name == body.tensor(id).name)
          read[static_cast<std::size_t>(initializer.tensor.value)] = true;
  }
  for (const Initializer& initializer : graph.initializers)
    if (read[static_cast<std::size_t>(initializer.tensor.value)]) add(graph.tensor(initializer.tensor), totals);
}

}  // namespace

ParameterTotals count_parameters(const Graph& graph) {
  ParameterTotals totals;
  walk(graph, totals);
  return totals;
}

}  // namespace aaco::graph
