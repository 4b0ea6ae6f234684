#pragma once

#include <optional>
#include <vector>

#include "core/result.h"
#include "workflows/diff_evidence.h"

namespace aaco::workflows {

// Why two sides of runs differ: the difference of a call divided into parts that add up to it, and the causes they speak for,
// from the session of each side that lies nearest its median. Empty where a side has no run whose evidence is at hand.
core::Result<std::optional<SuspectedCause>> cause_of_runs(const ComparedSide& a, const ComparedSide& b,
                                                          const std::vector<hardware::Difference>& differences,
                                                          const Services& services);

// The same of two imported GPU traces, one a side: the difference of a step's span (of the whole where there are no steps), where
// it is 5 % or more.
core::Result<std::optional<SuspectedCause>> cause_of_traces(const ComparedSide& a, const ComparedSide& b,
                                                            const Services& services);

}  // namespace aaco::workflows
