#pragma once

#include <optional>
#include <vector>

#include "core/json.h"
#include "trace/session.h"
#include "workflows/gpu_analysis.h"

namespace aaco::workflows {

// What the work of the devices shows beside its times (workflows/gpu/work_findings.h): kernels that get slower, kernels on few
// units, clocks that differ, time before the first work.
void warn_of_work(const GpuAnalysis& analysis, std::vector<trace::Warning>& warnings);

// Ranks of the job (distributedInfo of PyTorch's traces) of which no file was given. `files`: outcome.files.
std::optional<trace::Warning> missing_ranks(const core::Json& files);

}  // namespace aaco::workflows
