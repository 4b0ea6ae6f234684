#pragma once

#include <optional>

#include "core/json.h"
#include "graph/load.h"
#include "trace/outcome.h"

namespace aaco::workflows {

// The graph with the shapes that it ran with. `inputs` as below. Fails where the shapes cannot be inferred.
core::Result<graph::Model> model_as_run(const graph::Graph& graph, const core::Json& inputs);

// The work of one iteration by the operators' definitions: FLOPs, bytes (each tensor once), nodes; in `rest` "weight_bytes" and
// "confidence_ratio" (the modelled share). `inputs`: name and shape of each, as outcome.inputs of a run has them. Empty where the
// shapes cannot be inferred.
std::optional<trace::OutcomeWork> model_work(const graph::Graph& graph, const core::Json& inputs);

}  // namespace aaco::workflows
