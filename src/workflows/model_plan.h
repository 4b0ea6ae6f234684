#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "graph/cost.h"
#include "workflows/services.h"

namespace aaco::workflows {

struct PlanRequest {
  std::string backend;               // a file of data/fusion without its ending
  std::vector<std::string> on_host;  // operators the backend leaves to the host, with their domain where it is not ONNX's
};

// What the backend makes of a graph: kernels after fusion and why others stay apart, the parts it falls into and the copies
// between them, and how much could run at once (docs/formats/inspect.md, "plan"). `cost`: of this graph. Fails with not_found for
// a backend without a file, invalid_argument for an operator that the graph does not have.
core::Result<core::Json> plan_model(const graph::Graph& graph, const graph::GraphCost& cost, const PlanRequest& request,
                                    const Services& services);

}  // namespace aaco::workflows
