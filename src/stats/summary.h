#pragma once

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

// What a series of measurements says. Empty where the sample cannot support it.
struct Summary {
  std::int64_t count = 0;
  std::optional<double> mean;
  std::optional<Interval> mean_ci95;             // by effective sample size
  std::optional<double> standard_deviation;      // n - 1
  std::optional<double> coefficient_of_variation;
  std::optional<double> minimum, maximum;
  std::optional<Quantile> p50, p90, p95, p99, p999;  // distribution-free intervals by order statistics; empty where n is too small
  std::optional<double> q1, q3, iqr;
  std::int64_t outliers_low = 0, outliers_high = 0;  // beyond 3 IQR of the quartiles
  std::optional<double> autocorrelation_lag1;
  std::optional<double> effective_count;         // n corrected for autocorrelation
  std::optional<double> drift_ratio;             // last third's median over the first third's, minus 1
};

// Ignores nothing: a value that is not finite is the caller's bug (AACO_CHECK).
Summary summarize(std::span<const double> series);

// The quantile by linear interpolation of order statistics (Hyndman and Fan, 1996, type 7). `sorted` is ascending, not empty.
double quantile_of_sorted(std::span<const double> sorted, double probability);

}  // namespace aaco::stats
