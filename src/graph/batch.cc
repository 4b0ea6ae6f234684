#include "graph/batch.h"

#include <algorithm>
#include <set>

#include "core/strings.h"
#include "graph/symbol.h"

namespace aaco::graph {
namespace {

using core::ErrorCode;
using core::fail;

// The dimension that counts items; null where the input has none.
const Dimension* items_dimension(const Graph& graph, TensorId input) {
  const TensorDescriptor& tensor = graph.tensor(input);
  const std::size_t axis = tensor.shape ? item_axis(graph, input) : 0;
  return tensor.shape && tensor.shape->size() > axis ? &(*tensor.shape)[axis] : nullptr;
}

std::string name_of(const Graph& graph, TensorId input) {
  const std::string& symbol = items_dimension(graph, input)->symbol;
  return symbol.empty() ? graph.tensor(input).name + "#" + std::to_string(item_axis(graph, input)) : symbol;
}

bool open_items(const Graph& graph, TensorId input) {
  const Dimension* items = items_dimension(graph, input);
  return items != nullptr && !items->fixed();
}

bool time_first(const Node& node) {
  const std::string& op = node.op_type;
  return (op == "LSTM" || op == "GRU" || op == "RNN" || op == "DynamicQuantizeLSTM") && node.int_or("layout", 0) == 0;
}

// What hands its first input on with its dimensions as they are.
bool keeps_shape(const Node& node) {
  return node.op_type == "Identity" || node.op_type == "Cast" || node.op_type == "Dropout" || node.op_type == "QuantizeLinear" ||
         node.op_type == "DequantizeLinear";
}

core::Status put(const std::string& symbol, std::int64_t batch, Bindings& sizes) {
  const auto [found, is_new] = sizes.try_emplace(symbol, batch);
  if (is_new || found->second == batch) return {};
  return fail(ErrorCode::invalid_argument,
              "the batch is " + std::to_string(batch) + ", but '" + symbol + "' is " + std::to_string(found->second) + " already",
              "give consistent sizes");
}

}  // namespace

std::size_t item_axis(const Graph& graph, TensorId input) {
  constexpr std::size_t kFirstState = 5, kStates = 2;  // of the inputs: [directions, batch, hidden]
  std::set<TensorId> same{input};
  for (const Node& node : graph.nodes) {
    for (std::size_t state = kFirstState; state < std::min(node.inputs.size(), kFirstState + kStates); ++state)
      if (same.contains(node.inputs[state]) && time_first(node)) return 1;
    if (node.inputs.empty() || !same.contains(node.inputs[0])) continue;
    if (time_first(node)) return 1;
    if (keeps_shape(node) && !node.outputs.empty() && node.outputs[0].valid()) same.insert(node.outputs[0]);
  }
  return 0;
}

std::string batch_symbol(const Graph& graph) {
  for (const TensorId id : graph.inputs) {
    const TensorDescriptor& tensor = graph.tensor(id);
    if (!tensor.shape) continue;
    for (const Dimension& dimension : *tensor.shape)
      if (!dimension.fixed() && core::to_lower(dimension.symbol).find("batch") != std::string::npos &&
          symbol_names(dimension.symbol).size() == 1)
        return symbol_names(dimension.symbol)[0];
  }
  for (const TensorId id : graph.inputs)
    if (open_items(graph, id)) return name_of(graph, id);
  return {};
}

core::Status bind_batch(const Graph& graph, std::int64_t batch, Bindings& sizes) {
  if (batch < 1)
    return fail(ErrorCode::invalid_argument, "invalid batch size " + std::to_string(batch), "use a batch size of at least 1");
  const std::string symbol = batch_symbol(graph);
  if (!symbol.empty()) {
    AACO_TRY(put(symbol, batch, sizes));
    for (const TensorId id : graph.inputs)
      if (open_items(graph, id) && items_dimension(graph, id)->symbol.empty()) AACO_TRY(put(name_of(graph, id), batch, sizes));
    return {};
  }
  for (const TensorId id : graph.inputs) {
    const TensorDescriptor& tensor = graph.tensor(id);
    const Dimension* items = items_dimension(graph, id);
    if (items == nullptr || items->size == batch) continue;
    return fail(ErrorCode::invalid_argument,
                "a batch size of " + std::to_string(batch) + " was requested, but the model fixes the input '" + tensor.name +
                    "' at " + to_string(*tensor.shape),
                "use a batch size of " + std::to_string(items->size) + ", or export the model with a symbolic batch dimension");
  }
  return {};
}

Items items_of(const Graph& bound, const std::string& symbol, const Bindings& sizes) {
  if (const auto found = sizes.find(symbol); !symbol.empty() && found != sizes.end() && found->second > 0)
    return {found->second, "'" + symbol + "'"};
  for (const TensorId id : bound.inputs) {
    const Dimension* items = items_dimension(bound, id);
    if (items == nullptr || items->size < 1) continue;
    return {items->size, "dimension " + std::to_string(item_axis(bound, id)) + " of '" + bound.tensor(id).name + "'"};
  }
  return {};
}

}  // namespace aaco::graph
