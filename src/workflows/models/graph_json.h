#pragma once

#include <vector>

#include "core/json.h"
#include "graph/graph.h"

namespace aaco::workflows {

// Sizes as numbers, symbols as text.
core::Json shape_json(const graph::Shape& shape);
// name, type and shape of each; an unknown shape is null.
core::Json tensors_json(const graph::Graph& graph, const std::vector<graph::TensorId>& ids);
// domain -> version; the standard domain is "ai.onnx" as the format calls it.
core::Json opsets_json(const graph::Graph& graph);

}  // namespace aaco::workflows
