#pragma once

#include <string>

#include "core/result.h"
#include "graph/load.h"
#include "workflows/services.h"

namespace aaco::workflows {

// A model to reason about, by the name `aaco run --model` takes: a file (.onnx, .pt2, .tflite), a name of models.yaml, or
// "zoo:NAME[,parameter=value...]". A model of the zoo is built in memory; no weights are made or read.
core::Result<graph::Model> open_model(const std::string& name, const graph::Bindings& dimensions, const Services& services,
                                      const graph::ShapeOptions& options = {});

}  // namespace aaco::workflows
