#pragma once

#include <vector>

#include "laboratory/benchmarks.h"
#include "stats/stopping.h"

namespace aaco::laboratory::benchmarks {

// When a visit has measured enough.
stats::StoppingOptions stopping_of(const BenchmarkSuite& suite);
// Asks the meter, if there is one, in a case's first round; `calls` runs the operator for a few ms at most where that is short.
core::Status measure_power(PowerMeter* meter, const std::function<core::Status()>& calls, const std::atomic<bool>& stop,
                           BenchmarkVisit& visit);
// Of the calls' times in ns, one at least.
void summarize(std::vector<double> times, BenchmarkVisit& visit);

}  // namespace aaco::laboratory::benchmarks
