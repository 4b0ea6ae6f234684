#pragma once

#include <optional>
#include <vector>

#include "core/result.h"
#include "workflows/diff_cause.h"

namespace aaco::workflows {

// Why two sides of runs differ: the difference of a call divided into parts that add up to it, and the causes they speak for,
// from the mean of each side's sessions, or of its median calls where `decided` is the median and these tell more. Empty where a
// side has no run whose evidence is at hand, or the mean moved the other way than `decided`.
core::Result<std::optional<SuspectedCause>> cause_of_runs(const ComparedSide& a, const ComparedSide& b,
                                                          const analytics::regression::MetricResult& decided,
                                                          const std::vector<hardware::Difference>& differences,
                                                          const Services& services);

// The same of imported GPU traces, from the trace of each side whose span lies in the middle: the difference of the kernels' own
// time where that decided, else of a step of a device (of its whole span where there are no steps).
core::Result<std::optional<SuspectedCause>> cause_of_traces(const ComparedSide& a, const ComparedSide& b,
                                                            const analytics::regression::MetricResult& decided,
                                                            const Services& services);

}  // namespace aaco::workflows
