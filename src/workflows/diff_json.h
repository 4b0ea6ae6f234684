#pragma once

#include "core/json.h"
#include "workflows/diff.h"

namespace aaco::workflows {

// The verdict document (docs/formats/verdict.md).
core::Json to_json(const DiffOutcome& outcome, const DiffRequest& request);
core::Json to_json(const analytics::regression::MetricResult& metric);
core::Json to_json(const std::vector<hardware::Difference>& differences);

}  // namespace aaco::workflows
