#pragma once

#include "core/json.h"
#include "core/result.h"
#include "workflows/model_plan.h"
#include "workflows/model_source.h"

namespace aaco::workflows {

struct InspectRequest {
  ModelRequest model;
  bool strict = false;  // refuse a model with dimensions that nobody gave a size
  bool nodes = false;   // list every node
  PlanRequest plan;     // with a backend: what it makes of the graph
};

// What a model is and what it has to do, without running it (docs/formats/inspect.md). Fails with invalid_input on damage, and
// under `strict` where a dimension is open.
core::Result<core::Json> inspect(const InspectRequest& request, const Services& services);

}  // namespace aaco::workflows
