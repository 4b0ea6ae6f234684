#pragma once

#include <optional>
#include <span>

#include "stats/summary.h"

namespace aaco::stats {

// A sample for the tests below: its values, and how many independent ones they are worth (effective_sample_size(); the number of
// values where they are independent).
struct SampleView {
  std::span<const double> values;
  double effective_count = 0;
};

// Welch's test that two means are equal (Biometrika 34, 1947), each variance of a mean over its effective count.
struct WelchTest {
  double statistic = 0;
  double degrees_of_freedom = 0;
  double p_value = 1;     // two-sided
  double difference = 0;  // mean b - mean a
  Interval ci95;          // of the difference
};

// Empty where a side has fewer than two effective values, or neither has any variance.
std::optional<WelchTest> welch_test(const SampleView& a, const SampleView& b);

// Mann and Whitney's rank test that neither side tends to be larger (Ann. Math. Statist. 18, 1947): normal limit with continuity
// and tie correction.
struct RankTest {
  double superiority_ratio = 0.5;  // P(b > a) + P(b = a) / 2
  double statistic = 0;            // standardised
  double p_value = 1;              // two-sided
};

// Empty with fewer than four values on a side, or where all values are equal.
std::optional<RankTest> rank_test(const SampleView& a, const SampleView& b);

// Hodges and Lehmann's shift: the median of all differences b - a, with the interval of the rank test.
struct ShiftEstimate {
  double value = 0;
  Interval ci95;
};

// Empty with fewer than four values on a side. O((m + n) log): the differences are counted, not listed.
std::optional<ShiftEstimate> shift_estimate(const SampleView& a, const SampleView& b);

}  // namespace aaco::stats
