#pragma once

#include <span>
#include <vector>

namespace aaco::stats {

// Ranks from 1 in the order of the values given; equal values share their mean rank.
std::vector<double> mid_ranks(std::span<const double> values);

// Spearman's rank correlation of a series with its own order, -1..1; 0 for a constant series or fewer than 3
// values.
double rank_trend(std::span<const double> series);

// Two-sided p-value that such a correlation arises without a trend, by Student's t (exact enough from 8
// values up).
double rank_trend_p_value(double correlation, double count);

}  // namespace aaco::stats
