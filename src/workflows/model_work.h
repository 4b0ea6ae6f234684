#pragma once

#include "core/json.h"
#include "graph/graph.h"

namespace aaco::workflows {

// What one call has to do, by the operators' definitions: "flops", "bytes" (each tensor once), "confidence_ratio" (the share that
// is modelled), "node_count". `inputs`: name and shape of each, as outcome.inputs of a run has them. Null where the shapes cannot
// be inferred.
core::Json model_work(const graph::Graph& graph, const core::Json& inputs);

}  // namespace aaco::workflows
