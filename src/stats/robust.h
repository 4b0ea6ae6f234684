#pragma once

#include <span>

namespace aaco::stats {

// The middle value (mean of the two middle ones). Not empty. O(n); copies.
double median(std::span<const double> values);

// 1.4826 times the median distance from the median: the standard deviation of a normal sample, whatever its
// outliers. Not empty.
double robust_deviation(std::span<const double> values);

}  // namespace aaco::stats
