#pragma once

#include <vector>

#include "laboratory/benchmarks.h"
#include "stats/stopping.h"

namespace aaco::laboratory::benchmarks {

// When a visit has measured enough.
stats::StoppingOptions stopping_of(const BenchmarkSuite& suite);
// Of the calls' times in ns, one at least.
void summarize(std::vector<double> times, BenchmarkVisit& visit);

}  // namespace aaco::laboratory::benchmarks
