#include "laboratory/benchmarks/sized_model.h"

namespace aaco::laboratory::benchmarks {

core::Result<graph::Model> model_at(const graph::Graph& graph, const std::map<std::string, std::int64_t>& dimensions) {
  graph::Bindings sizes;
  for (const std::string& symbol : graph::free_symbols(graph))
    if (const auto found = dimensions.find(symbol); found != dimensions.end()) sizes[symbol] = found->second;
  return graph::prepare(graph, sizes);
}

}  // namespace aaco::laboratory::benchmarks
