#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace aaco::stats {

struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

struct Quantile {
  double probability = 0.5;
  double value = 0;
  std::optional<Interval> ci95;  // empty where the sample states the value and is too small for an interval
};

inline constexpr double kOutlierFence = 3;            // "far out": beyond 3 IQR of the quartiles (Tukey, 1977)
inline constexpr std::size_t kDriftMinimumCount = 9;  // three values in a third

// What a series of measurements says. Empty where the sample cannot support it: a quantile is stated where at least one value is
// expected beyond it (stated_count() in order_statistics.h: 10 values for P90, 20 for P95, 100 for P99, 1000 for P99.9), and has
// an interval from where order statistics have one (minimum_count(), Wilks 1941: 6 for P50, 29, 59, 299 and 2995).
struct Summary {
  std::int64_t count = 0;
  std::optional<double> mean;
  std::optional<Interval> mean_ci95;         // Student's t over effective_count
  std::optional<double> standard_deviation;  // n - 1
  std::optional<double> coefficient_of_variation;
  std::optional<double> minimum, maximum;
  std::optional<Quantile> p50, p90, p95, p99,
      p999;  // intervals by order statistics, wider where values are correlated
  std::optional<double> q1, q3, iqr;
  std::optional<std::int64_t> outliers_low,
      outliers_high;  // values beyond the fence; empty without quartiles
  std::optional<double> autocorrelation_lag1;
  std::optional<double> effective_count;  // n corrected for autocorrelation
  std::optional<double> drift_ratio;      // last third's median over the first third's, minus 1
};

// Ignores nothing: a value that is not finite is the caller's bug (AACO_CHECK).
Summary summarize(std::span<const double> series);

// The quantile by linear interpolation of order statistics (Hyndman and Fan, 1996, type 7). `sorted` is
// ascending, not empty.
double quantile_of_sorted(std::span<const double> sorted, double probability);

}  // namespace aaco::stats
