#pragma once

#include <vector>

#include "trace/session.h"
#include "workflows/gpu_analysis.h"

namespace aaco::workflows {

// What the work of the devices shows beside its times (workflows/gpu/work_findings.h): kernels that get slower, kernels on few
// units, time before the first work.
void warn_of_work(const GpuAnalysis& analysis, std::vector<trace::Warning>& warnings);

}  // namespace aaco::workflows
