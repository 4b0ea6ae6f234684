#pragma once

#include <cstdint>

#include "core/result.h"
#include "runner/input_shapes.h"
#include "workflows/run/run_plan.h"

namespace aaco::workflows {

// That the model with these sizes of its inputs fits into the memory that is left: weights while they are loaded, then weights
// and what is live while it runs. Fails with exhausted otherwise, naming how much, and the largest batch that would fit. On a
// provider other than the CPU's only the loading is looked at: what runs lies on the device.
core::Status check_memory(const RunPlan& plan, const runner::ResolvedShapes& sizes);

}  // namespace aaco::workflows
