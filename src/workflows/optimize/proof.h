#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"
#include "workflows/optimize.h"

namespace aaco::workflows {

// Compares the winner with the baseline in processes and runs that the search did not use: what was chosen for being fastest
// is faster than it will be again (winner's curse). `warmup`: calls of each process before those that count. Each side is stored
// as a session.
core::Result<OptimizeProof> prove(const OptimizeRequest& request, const RunRequest& candidate, const std::string& name,
                                  core::Nanoseconds time, std::int64_t warmup, const Services& services);

// The same for peak memory: fresh processes of both sides alternate, four rounds at least.
core::Result<OptimizeProof> prove_memory(const OptimizeRequest& request, const RunRequest& candidate, const std::string& name,
                                         core::Nanoseconds time, std::int64_t warmup, const Services& services);

// The same for the energy that the processor uses per item: in each round, blocks of calls of two fresh processes alternate.
core::Result<OptimizeProof> prove_energy(const OptimizeRequest& request, const RunRequest& candidate, const std::string& name,
                                         core::Nanoseconds time, std::int64_t warmup, const Services& services);

// Fills the verdict of an outcome from its proof: proven, summary, recommendation.
void conclude(const OptimizeRequest& request, OptimizeOutcome& outcome);

}  // namespace aaco::workflows
