#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "stats/summary.h"

namespace aaco::stats {

// The least number of values from which a two-sided interval of this level for the quantile can be had from
// order statistics at all: the smallest n with 1 - p^n - (1-p)^n >= level (Wilks, Ann. Math. Statist. 12,
// 1941; David and Nagaraja, Order Statistics, 3rd ed., section 7.1). At 95 %: 6 for P50, 29 for P90, 59 for
// P95, 299 for P99, 2995 for P99.9.
std::int64_t minimum_count(double probability, double level = 0.95);

// The least number of values for which the quantile itself is stated: one value is expected beyond it, 1 / (1 - p) for p above
// the median. At least 2.
std::int64_t stated_count(double probability);

// The quantile with its distribution-free interval; empty below stated_count(), without the interval below minimum_count().
// `effective_count` is the number of independent values the sample is worth around this quantile (n when they
// are independent): the ranks of the interval are moved apart by sqrt(n / effective_count), at most to the
// extremes.
std::optional<Quantile> supported_quantile(std::span<const double> sorted, double probability, double effective_count);

}  // namespace aaco::stats
