#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace aaco::stats {

// The autocorrelation at `lag` (biased estimator, divisor n: Box and Jenkins). Empty for fewer than lag + 3
// values or a constant series.
std::optional<double> autocorrelation(std::span<const double> series, std::int64_t lag);

// How many independent values would fix the mean as well as this series does: n / tau, 1 <= result <= n. tau
// is the integrated autocorrelation time by the initial positive and monotone sequence (Geyer, Practical
// Markov Chain Monte Carlo, 1992). A correlation longer than 1024 lags is followed through batch means of
// that length, so that the cost stays linear in n. n for a constant series.
double effective_sample_size(std::span<const double> series);

}  // namespace aaco::stats
