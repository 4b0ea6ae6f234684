#include "workflows/models/graph_json.h"

namespace aaco::workflows {

using core::Json;

Json shape_json(const graph::Shape& shape) {
  Json out = Json::array();
  for (const auto& dimension : shape) out.push(dimension.fixed() ? Json(dimension.size) : Json(dimension.symbol));
  return out;
}

Json tensors_json(const graph::Graph& graph, const std::vector<graph::TensorId>& ids) {
  Json out = Json::array();
  for (const auto id : ids) {
    if (!id.valid()) continue;  // an optional output that is left out
    const auto& tensor = graph.tensor(id);
    out.push(Json::object(
        {{"name", tensor.name}, {"type", to_string(tensor.type)}, {"shape", tensor.shape ? shape_json(*tensor.shape) : Json()}}));
  }
  return out;
}

Json opsets_json(const graph::Graph& graph) {
  Json out = Json::object();
  for (const auto& [domain, version] : graph.opsets) out.set(domain.empty() ? "ai.onnx" : domain, version);
  return out;
}

}  // namespace aaco::workflows
