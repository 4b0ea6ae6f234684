#pragma once

#include <span>

#include "stats/summary.h"

namespace aaco::stats {

struct LocationEstimate {
  double value = 0;
  Interval ci95;
};

inline constexpr std::size_t kSignedRankMinimumCount = 6;  // the least that has a two-sided 95 % interval

// The Hodges-Lehmann estimate of the centre of symmetric values (median of all pairwise means) with the interval of
// Wilcoxon's signed-rank test, exact up to 60 values, by its normal limit above. At least kSignedRankMinimumCount values; O(n^2).
LocationEstimate signed_rank_location(std::span<const double> values);

// The mean with Student's interval; at least 2 values.
LocationEstimate mean_location(std::span<const double> values);

}  // namespace aaco::stats
