#include "workflows/models/model_work.h"

#include <algorithm>

#include "graph/cost.h"
#include "graph/load.h"

namespace aaco::workflows {
namespace {

using core::Json;

graph::Bindings sizes_of_symbols(const graph::Graph& graph, const Json& inputs) {
  graph::Bindings sizes;
  for (const graph::TensorId id : graph.inputs) {
    const graph::TensorDescriptor& declared = graph.tensor(id);
    if (!declared.shape) continue;
    for (const Json& input : inputs.items()) {
      const auto& shape = input["shape"].items();
      if (input["name"].text() != declared.name || shape.size() != declared.shape->size()) continue;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const graph::Dimension& dimension = (*declared.shape)[axis];
        const auto size = shape[axis].as_i64();
        if (!dimension.fixed() && !dimension.symbol.empty() && size) sizes.emplace(dimension.symbol, *size);
      }
    }
  }
  // Only symbols that stand alone take a size: of "past + new" the terms do.
  const auto free = graph::free_symbols(graph);
  std::erase_if(sizes, [&](const auto& one) { return std::find(free.begin(), free.end(), one.first) == free.end(); });
  return sizes;
}

}  // namespace

core::Result<graph::Model> model_as_run(const graph::Graph& graph, const Json& inputs) {
  return graph::prepare(graph, sizes_of_symbols(graph, inputs));
}

std::optional<trace::OutcomeWork> model_work(const graph::Graph& graph, const Json& inputs) {
  const auto model = model_as_run(graph, inputs);
  if (!model) return std::nullopt;
  const graph::GraphCost cost = graph::cost_of(model->graph);
  trace::OutcomeWork work;
  work.flops = cost.flops;
  work.bytes = static_cast<double>(cost.bytes_read + cost.bytes_written);
  work.node_count = static_cast<double>(cost.nodes.size());
  work.rest = Json::object({{"weight_bytes", cost.weight_bytes}, {"confidence_ratio", cost.confidence}});
  return work;
}

}  // namespace aaco::workflows
