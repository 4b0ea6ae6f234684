#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "runner/backend.h"
#include "trace/session.h"
#include "workflows/run/run_plan.h"
#include "workflows/run_request.h"
#include "workflows/services.h"

namespace aaco::workflows {

// A model loaded, with inputs bound.
struct LoadedModel {
  std::string runtime_name, runtime_version, runtime_build;  // "onnxruntime", "opencv"
  std::unique_ptr<runner::Backend> backend;
  std::int64_t batch = 1;   // items a call works on
  core::Json inputs;        // name, type, shape and origin of each
  std::string shapes_text;  // "input float32[1,3,224,224]; ..."
  std::vector<trace::Warning> warnings;
};

// Opens the model under the plan. Refuses one that does not fit in memory before it is tried.
core::Result<LoadedModel> load_model(const RunPlan& plan, const RunRequest& request, const Services& services);

}  // namespace aaco::workflows
