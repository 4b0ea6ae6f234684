#pragma once

#include <optional>
#include <string>

#include "core/result.h"
#include "graph/load.h"
#include "workflows/services.h"

namespace aaco::workflows {

// A model to reason about and the sizes it is reasoned about with.
struct ModelRequest {
  std::string name;  // what `aaco run --model` takes: a file (.onnx, .pt2, .tflite; FILE#NAME: one of the programs in it), a name
                     // of models.yaml, or "zoo:NAME[,parameter=value...]"
  graph::Bindings dimensions;  // symbol -> size; what models.yaml says comes after it
  std::optional<std::int64_t> batch;
  graph::ShapeOptions shapes;
};

// A model of the zoo is built in memory; no weights are made or read.
core::Result<graph::Model> open_model(const ModelRequest& request, const Services& services);

}  // namespace aaco::workflows
