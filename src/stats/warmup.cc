#include "stats/warmup.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "stats/ranks.h"
#include "stats/robust.h"
#include "stats/summary.h"

namespace aaco::stats {
namespace {

constexpr std::size_t kWindow = 4096;  // values looked at, so that a call stays cheap however long the series
constexpr std::size_t kSmallestSegment = 3;
constexpr double kChangeLevel = 0.05;  // of one change-point test; the bound on its p-value is generous by about two

struct Change {
  std::size_t index = 0;  // first value after it
  double p_value = 1;
};

// The probability that chance alone lifts the largest of the standardised sums to `z` (Miller and Siegmund,
// Biometrics 38, 1982, for splits that leave kSmallestSegment values on either side).
double chance_of_maximum(double z, double count) {
  if (z <= 1) return 1;
  const double edge = static_cast<double>(kSmallestSegment);
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  return std::min(1.0, density * (2 * (z - 1 / z) * std::log((count - edge) / edge) + 4 / z));
}

// The most likely single change of level: the split with the largest standardised rank sum (Lausen and
// Schumacher, Biometrics 48, 1992), which sees a change near the end of the series as well as one in its
// middle.
Change likeliest_change(std::span<const double> series) {
  const std::vector<double> ranks = mid_ranks(series);
  const double n = static_cast<double>(series.size());
  double sum = 0, largest = 0;
  Change result;
  for (std::size_t i = 0; i + kSmallestSegment < ranks.size(); ++i) {
    sum += 2 * ranks[i] - (n + 1);
    const double k = static_cast<double>(i + 1);
    if (i + 1 < kSmallestSegment) continue;
    const double z = std::abs(sum) / std::sqrt(k * (n - k) * (n + 1) / 3);
    if (z <= largest) continue;
    largest = z;
    result.index = i + 1;
  }
  result.p_value = chance_of_maximum(largest, n);
  return result;
}

// Starts of the segments after the first, ascending.
void cut(std::span<const double> series, std::size_t offset, std::vector<std::size_t>& starts) {
  if (series.size() < 2 * kSmallestSegment) return;
  const Change change = likeliest_change(series);
  if (change.p_value > kChangeLevel) return;
  cut(series.first(change.index), offset, starts);
  starts.push_back(offset + change.index);
  cut(series.subspan(change.index), offset + change.index, starts);
}

double tolerance(double level, double sigma) {
  return std::max(kWarmupMaterialRatio * std::abs(level), kWarmupMaterialNoise * sigma);
}

// The start of the last segments that agree in level.
std::size_t settled_start(std::span<const double> series) {
  std::vector<std::size_t> starts{0};
  cut(series, 0, starts);
  const auto last = series.subspan(starts.back());
  const double level = median(last);
  const double allowed = tolerance(level, robust_deviation(last));
  std::size_t first = starts.size() - 1;
  while (first > 0 && std::abs(median(series.subspan(starts[first - 1], starts[first] - starts[first - 1])) - level) <= allowed) {
    --first;
  }
  return starts[first];
}

// Values at the head of the settled part that do not belong to it: too few for a change-point test.
std::size_t leading_outliers(std::span<const double> settled) {
  std::vector<double> sorted(settled.begin(), settled.end());
  std::sort(sorted.begin(), sorted.end());
  const double q1 = quantile_of_sorted(sorted, 0.25);
  const double q3 = quantile_of_sorted(sorted, 0.75);
  const double reach = std::max(kOutlierFence * (q3 - q1), kWarmupMaterialRatio * std::abs(quantile_of_sorted(sorted, 0.5)));
  std::size_t count = 0;
  while (count < settled.size() && (settled[count] < q1 - reach || settled[count] > q3 + reach)) ++count;
  return count;
}

struct Trend {
  double p_value = 1;
  bool material = false;
};

// Over the recent part only, so that a slow drift does not count against a series that would never end.
Trend recent_trend(std::span<const double> settled, std::size_t minimum_tail) {
  const auto recent = settled.last(std::min(settled.size(), 4 * minimum_tail));
  Trend result;
  // Not corrected for autocorrelation: a trend cannot be told from it in so few values, and a false alarm
  // only warms up longer.
  result.p_value = rank_trend_p_value(rank_trend(recent), static_cast<double>(recent.size()));
  const std::size_t third = std::max<std::size_t>(recent.size() / 3, 1);
  const double shift = median(recent.last(third)) - median(recent.first(third));
  // A trend is no noise: the scatter is measured inside the thirds.
  const double scatter = std::min(robust_deviation(recent.first(third)), robust_deviation(recent.last(third)));
  result.material = std::abs(shift) > tolerance(median(recent), scatter);
  return result;
}

}  // namespace

WarmupVerdict find_warmup_end(std::span<const double> series, std::int64_t minimum_tail) {
  const auto tail = static_cast<std::size_t>(std::max<std::int64_t>(minimum_tail, 4));
  const std::size_t skipped = series.size() > kWindow ? series.size() - kWindow : 0;
  const auto window = series.subspan(skipped);
  WarmupVerdict verdict;
  if (window.empty()) return verdict;
  std::size_t start = settled_start(window);
  start += leading_outliers(window.subspan(start));
  verdict.first_stationary = static_cast<std::int64_t>(skipped + start);
  const auto settled = window.subspan(start);
  if (settled.size() < tail) return verdict;
  const Trend trend = recent_trend(settled, tail);
  verdict.p_value = trend.p_value;
  verdict.stationary = trend.p_value > kWarmupLevel || !trend.material;
  return verdict;
}

}  // namespace aaco::stats
