#pragma once

#include "core/json.h"
#include "graph/load.h"

namespace aaco::workflows {

// The graph with the shapes that it ran with. `inputs` as below. Fails where the shapes cannot be inferred.
core::Result<graph::Model> model_as_run(const graph::Graph& graph, const core::Json& inputs);

// What one call has to do, by the operators' definitions: "flops", "bytes" (each tensor once), "confidence_ratio" (the share that
// is modelled), "node_count". `inputs`: name and shape of each, as outcome.inputs of a run has them. Null where the shapes cannot
// be inferred.
core::Json model_work(const graph::Graph& graph, const core::Json& inputs);

}  // namespace aaco::workflows
