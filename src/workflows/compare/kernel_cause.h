#pragma once

#include <optional>

#include "workflows/diff.h"

namespace aaco::workflows {

// Where the whole is inconclusive: the kernel whose time per call changed beyond doubt, by at least `threshold_ratio` of the
// kernel time of a step. Empty: no such kernel, or kernels that changed in both directions about as much.
std::optional<SuspectedCause> decided_kernel(const analytics::tracediff::TraceDifference& difference, double threshold_ratio);

}  // namespace aaco::workflows
