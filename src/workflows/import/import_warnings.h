#pragma once

#include <vector>

#include "trace/session.h"
#include "workflows/gpu_analysis.h"

namespace aaco::workflows {

// What the reader of an imported trace should know of its kernels: how many have no cause and why, whether a graph fitted, and
// which of its times are odd.
std::vector<trace::Warning> trace_warnings(const GpuAnalysis& analysis);

}  // namespace aaco::workflows
