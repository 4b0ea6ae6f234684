#pragma once

#include "core/json.h"
#include "workflows/gpu_analysis.h"

namespace aaco::workflows {

// What the outcome says of each GPU, with the convention beside the numbers.
core::Json to_json(const GpuAnalysis& analysis, const GpuAnalysisOptions& options);

}  // namespace aaco::workflows
