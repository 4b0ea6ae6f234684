#include "stats/warmup.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/changepoint.h"
#include "stats/ranks.h"
#include "stats/robust.h"
#include "stats/summary.h"

namespace aaco::stats {
namespace {

constexpr std::size_t kWindow = 4096;  // values looked at, so that a call stays cheap however long the series

double tolerance(double level, double sigma) {
  return std::max(kWarmupMaterialRatio * std::abs(level), kWarmupMaterialNoise * sigma);
}

// The start of the last segments that agree in level.
std::size_t settled_start(std::span<const double> series) {
  std::vector<std::size_t> starts{0};
  for (const ChangePoint& change : find_changes(series)) starts.push_back(static_cast<std::size_t>(change.index));
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
