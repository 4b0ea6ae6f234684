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
  Interval ci95;
};

inline constexpr double kOutlierFence = 3;            // "far out": beyond 3 IQR of the quartiles (Tukey, 1977)
inline constexpr std::size_t kDriftMinimumCount = 9;  // three values in a third

// What a series of measurements says. Empty where the sample cannot support it: a quantile wants as many
// values as a 95 % interval from order statistics needs to exist (minimum_count() in order_statistics.h,
// Wilks 1941): 6 for P50, 11 for the quartiles, 29 for P90, 59 for P95, 299 for P99, 2995 for P99.9.
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
