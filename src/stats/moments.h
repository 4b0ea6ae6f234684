#pragma once

#include <span>

namespace aaco::stats {

// The arithmetic mean; not empty.
double mean_of(std::span<const double> values);

// The sample variance (n - 1); 0 for fewer than two values.
double variance_of(std::span<const double> values);

}  // namespace aaco::stats
