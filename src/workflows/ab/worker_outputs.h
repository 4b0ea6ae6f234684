#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "runner/backend.h"
#include "workflows/run/run_plan.h"

namespace aaco::workflows {

// Runs the model once on inputs generated with `seed` (0: the inputs of the request) and writes its outputs to `file`: one line
// of JSON (name, type, shape and bytes of each), then the bytes. Binds the request's own inputs again.
core::Status write_model_outputs(runner::Backend& backend, const RunPlan& plan, const RunRequest& request, std::uint64_t seed,
                                 const std::string& file);

core::Result<std::vector<runner::TensorData>> read_model_outputs(const std::string& file);

}  // namespace aaco::workflows
