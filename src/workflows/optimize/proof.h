#pragma once

#include "core/result.h"
#include "workflows/optimize.h"
#include "workflows/optimize/space.h"
#include "workflows/optimize/trial.h"

namespace aaco::workflows {

// Compares the winner with the baseline in processes and runs that the search did not use: what was chosen for being fastest
// is faster than it will be again (winner's curse). `warmup`: calls of each process before those that count. Each side is stored
// as a session.
core::Result<OptimizeProof> prove(const OptimizeRequest& request, const Space& space, const Trial& winner, core::Nanoseconds time,
                                  std::int64_t warmup, const Services& services);

}  // namespace aaco::workflows
