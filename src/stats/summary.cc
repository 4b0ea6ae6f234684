#include "stats/summary.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "stats/autocorrelation.h"
#include "stats/distributions.h"
#include "stats/moments.h"
#include "stats/order_statistics.h"
#include "stats/robust.h"

namespace aaco::stats {
namespace {

void add_moments(std::span<const double> series, Summary& result) {
  const double mean = mean_of(series);
  result.mean = mean;
  if (series.size() < 2) return;
  const double deviation = std::sqrt(variance_of(series));
  result.standard_deviation = deviation;
  if (mean > 0) result.coefficient_of_variation = deviation / mean;
  const double effective = effective_sample_size(series);
  result.effective_count = effective;
  result.autocorrelation_lag1 = autocorrelation(series, 1);
  if (effective < 2) return;
  const double half_width = student_t_quantile(0.975, effective - 1) * deviation / std::sqrt(effective);
  result.mean_ci95 = Interval{mean - half_width, mean + half_width};
}

// The independent values that the sample is worth around one quantile: those of the series "at or below it".
double effective_count_at(std::span<const double> series, double quantile) {
  std::vector<double> below(series.size());
  std::transform(series.begin(), series.end(), below.begin(), [&](double value) { return value <= quantile ? 1.0 : 0.0; });
  return effective_sample_size(below);
}

void add_quantiles(std::span<const double> series, std::span<const double> sorted, Summary& result) {
  const auto quantile = [&](double probability) -> std::optional<Quantile> {
    if (static_cast<std::int64_t>(sorted.size()) < stated_count(probability)) return std::nullopt;
    return supported_quantile(sorted, probability, effective_count_at(series, quantile_of_sorted(sorted, probability)));
  };
  result.p50 = quantile(0.50);
  result.p90 = quantile(0.90);
  result.p95 = quantile(0.95);
  result.p99 = quantile(0.99);
  result.p999 = quantile(0.999);
}

void add_spread(std::span<const double> sorted, Summary& result) {
  if (static_cast<std::int64_t>(sorted.size()) < minimum_count(0.25)) return;
  const double q1 = quantile_of_sorted(sorted, 0.25);
  const double q3 = quantile_of_sorted(sorted, 0.75);
  const double fence = kOutlierFence * (q3 - q1);
  result.q1 = q1;
  result.q3 = q3;
  result.iqr = q3 - q1;
  result.outliers_low = std::lower_bound(sorted.begin(), sorted.end(), q1 - fence) - sorted.begin();
  result.outliers_high = sorted.end() - std::upper_bound(sorted.begin(), sorted.end(), q3 + fence);
}

std::optional<double> drift_of(std::span<const double> series) {
  if (series.size() < kDriftMinimumCount) return std::nullopt;
  const std::size_t third = series.size() / 3;
  const double first = median(series.first(third));
  if (first <= 0) return std::nullopt;
  return median(series.last(third)) / first - 1;
}

}  // namespace

Summary summarize(std::span<const double> series) {
  AACO_CHECK(std::all_of(series.begin(), series.end(), [](double value) { return std::isfinite(value); }));
  Summary result;
  result.count = static_cast<std::int64_t>(series.size());
  if (series.empty()) return result;
  std::vector<double> sorted(series.begin(), series.end());
  std::sort(sorted.begin(), sorted.end());
  result.minimum = sorted.front();
  result.maximum = sorted.back();
  add_moments(series, result);
  add_quantiles(series, sorted, result);
  add_spread(sorted, result);
  result.drift_ratio = drift_of(series);
  return result;
}

double quantile_of_sorted(std::span<const double> sorted, double probability) {
  AACO_CHECK(!sorted.empty() && probability >= 0 && probability <= 1);
  const double position = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const double fraction = position - static_cast<double>(below);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + fraction * (sorted[below + 1] - sorted[below]);
}

}  // namespace aaco::stats
