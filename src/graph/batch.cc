#include "graph/batch.h"

#include "core/strings.h"
#include "graph/symbol.h"

namespace aaco::graph {
namespace {

using core::ErrorCode;
using core::fail;

bool open_first(const TensorDescriptor& tensor) { return tensor.shape && !tensor.shape->empty() && !(*tensor.shape)[0].fixed(); }

std::string first_name(const TensorDescriptor& tensor) {
  const std::string& symbol = (*tensor.shape)[0].symbol;
  return symbol.empty() ? tensor.name + "#0" : symbol;
}

core::Status put(const std::string& symbol, std::int64_t batch, Bindings& sizes) {
  const auto [found, is_new] = sizes.try_emplace(symbol, batch);
  if (is_new || found->second == batch) return {};
  return fail(ErrorCode::invalid_argument,
              "the batch is " + std::to_string(batch) + ", but '" + symbol + "' is " + std::to_string(found->second) + " already",
              "give sizes that agree");
}

}  // namespace

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
    if (open_first(graph.tensor(id))) return first_name(graph.tensor(id));
  return {};
}

core::Status bind_batch(const Graph& graph, std::int64_t batch, Bindings& sizes) {
  if (batch < 1)
    return fail(ErrorCode::invalid_argument, "a batch of " + std::to_string(batch) + " items cannot run", "use 1 or more");
  const std::string symbol = batch_symbol(graph);
  if (!symbol.empty()) {
    AACO_TRY(put(symbol, batch, sizes));
    for (const TensorId id : graph.inputs)
      if (const TensorDescriptor& tensor = graph.tensor(id); open_first(tensor) && (*tensor.shape)[0].symbol.empty())
        AACO_TRY(put(first_name(tensor), batch, sizes));
    return {};
  }
  for (const TensorId id : graph.inputs) {
    const TensorDescriptor& tensor = graph.tensor(id);
    if (!tensor.shape || tensor.shape->empty() || (*tensor.shape)[0].size == batch) continue;
    return fail(
        ErrorCode::invalid_argument,
        "a batch of " + std::to_string(batch) + " is asked for, but the model has the input '" + tensor.name + "' fixed at " +
            to_string(*tensor.shape),
        "take a batch of " + std::to_string((*tensor.shape)[0].size) + ", or export the model with a symbolic first dimension");
  }
  return {};
}

std::int64_t batch_of(const Graph& graph) {
  for (const TensorId id : graph.inputs) {
    const TensorDescriptor& tensor = graph.tensor(id);
    if (tensor.shape && !tensor.shape->empty() && (*tensor.shape)[0].fixed()) return (*tensor.shape)[0].size;
  }
  return 1;
}

}  // namespace aaco::graph
