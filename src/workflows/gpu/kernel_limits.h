#pragma once

#include <vector>

#include "analytics/kernel_limit.h"
#include "core/environment.h"
#include "core/json.h"
#include "trace/names.h"

namespace aaco::workflows {

// Kernel time by limit, and the limits of the kernels that take most time, with their evidence and the confidence that the limit
// is true (absent for unknown limits).
core::Json to_json(const std::vector<analytics::roofline::KernelLimit>& limits, const trace::NameTable& names,
                   const core::Paths& paths);

}  // namespace aaco::workflows
