#pragma once

#include <vector>

#include "core/result.h"
#include "workflows/optimize.h"
#include "workflows/optimize/trial_bench.h"

namespace aaco::workflows {

// What each change of the winner contributes: the winner is measured without it (leave-one-out), a few rounds each. Empty for a
// winner with a single change. Stops at the deadline with the changes measured by then.
core::Result<std::vector<OptimizePart>> decompose(const Trial& winner, TrialBench& bench, const Space& space,
                                                  std::int64_t deadline_ns, const Services& services);

}  // namespace aaco::workflows
