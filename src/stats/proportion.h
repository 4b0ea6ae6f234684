#pragma once

#include <cstdint>

#include "stats/summary.h"

namespace aaco::stats {

// The interval of a share of `trials` (Clopper and Pearson, Biometrika 26, 1934): never too narrow, and valid for 0 and for all
// of them. 0 <= successes <= trials, trials > 0, 0 < level < 1.
Interval proportion_interval(std::int64_t successes, std::int64_t trials, double level = 0.95);

}  // namespace aaco::stats
