#include "stats/season.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "stats/robust.h"

namespace aaco::stats {
namespace {

constexpr std::size_t kMinPeriod = 4, kMinPeriods = 4, kMaxAnyPeriod = 60;
constexpr double kLookedAtPeriods =
    3.3;  // longer periods that as many of fit are compared, and none is taken where one of them is best
constexpr std::size_t kNeighbour = 40;  // a period of the list counts if no lag this share away correlates more, by more than
constexpr double kBetter = 0.02;        // this: another period is not one of the list
constexpr std::array<std::size_t, 14> kUsual = {72, 84, 90, 96, 100, 120, 144, 168, 180, 240, 288, 336, 360, 365};
constexpr std::size_t kMinValues = 28;
constexpr double kMinCorrelation = 0.45, kMinDeviations = 5;  // 5 over the root of n: no chance
constexpr double kCorrelationByPeriods = 3.6;  // over the number of periods: few of them agree by chance in correlated noise
constexpr double kTwoPeriods = 0.1;            // less correlation allowed for two periods than for one
constexpr double kAsGood = 0.9;                // of the best: a period that it is a multiple of is preferred
constexpr double kClip = 4;                    // median distances
constexpr std::size_t kSample = 200;           // values whose median distance is taken
constexpr std::size_t kNearest = 7;
constexpr double kUnexplainedByStairs = 0.25;  // of the pattern's squares
constexpr double kStays = 0.5;                 // of the strength that a new period needs: a known one stays
constexpr double kClearlyStronger = 0.1;       // another period replaces it
constexpr double kMaxGrowth = 2;               // of the pattern, from the periods known to the next

// Less the centred moving mean over a period, for [period / 2, size - period / 2).
std::vector<double> beside_moving_mean(std::span<const double> series, std::size_t period) {
  std::vector<double> sums(series.size() + 1, 0.0), result;
  for (std::size_t i = 0; i < series.size(); ++i) sums[i + 1] = sums[i] + (series[i] - series[0]);
  const std::size_t half = period / 2;
  for (std::size_t i = half; i + half < series.size(); ++i) {
    double sum = sums[i + half + 1] - sums[i - half];
    if (period % 2 == 0) sum -= 0.5 * ((series[i - half] - series[0]) + (series[i + half] - series[0]));  // both ends by half
    result.push_back(series[i] - series[0] - sum / static_cast<double>(period));
  }
  return result;
}

void clip(std::vector<double>& values) {
  std::vector<double> sample;
  for (std::size_t i = 0; i < values.size(); i += 1 + values.size() / kSample) sample.push_back(std::abs(values[i]));
  const double limit = kClip * median(sample);
  for (double& value : values) value = std::clamp(value, -limit, limit);
}

double correlation(const std::vector<double>& values, std::size_t lag, double variance) {
  if (values.size() <= lag) return 0;
  double sum = 0;
  for (std::size_t i = 0; i + lag < values.size(); ++i) sum += values[i] * values[i + lag];
  return sum / static_cast<double>(values.size() - lag) / variance;
}

double strength(std::span<const double> series, std::size_t period) {
  std::vector<double> values = beside_moving_mean(series, period);
  clip(values);
  const double variance = correlation(values, 0, 1);
  if (variance <= 0) return 0;
  const double one = correlation(values, period, variance);
  if (period > kMaxAnyPeriod)
    for (const std::size_t lag : {period - period / kNeighbour, period + period / kNeighbour})
      if (correlation(values, lag, variance) > one + kBetter) return 0;
  return std::min(one, correlation(values, 2 * period, variance) + kTwoPeriods);
}

// Shortest period that explains the best one as its multiple.
std::size_t fundamental(const std::vector<double>& strengths, std::size_t best) {
  for (std::size_t period = kMinPeriod; 2 * period <= best + 1; ++period) {
    if (strengths[period] < kAsGood * strengths[best] || strengths[period] < strengths[period - 1] ||
        strengths[period] < strengths[period + 1])
      continue;
    const double multiple = std::round(static_cast<double>(best) / static_cast<double>(period));
    const double miss = std::abs(static_cast<double>(best) - multiple * static_cast<double>(period));
    if (multiple >= 2 && miss <= std::max(1.0, 0.02 * static_cast<double>(best))) return period;
  }
  return best;
}

// A staircase of like steps repeats itself as well, less its trend; it is no pattern: the values never come back. Whether the
// series, by phase and with its trend, is one or two levels per period with steps in the direction of the trend.
bool is_staircase(std::span<const double> series, std::size_t period) {
  const std::vector<double> distances = beside_moving_mean(series, period);
  const std::size_t half = period / 2, last = series.size() - 1 - half;
  const double first_mean = series[half] - distances.front(), last_mean = series[last] - distances[last - half];
  const double slope = (last_mean - first_mean) / static_cast<double>(last - half);
  const double rise = slope * static_cast<double>(period);
  std::vector<double> sums{0.0}, squares{0.0};  // of two periods in a row
  double pattern = 0;
  for (std::size_t k = 0; k < 2 * period; ++k) {
    std::vector<double> known;
    for (std::size_t i = k % period; i < distances.size(); i += period) known.push_back(distances[i]);
    const double distance = median(known), value = distance + slope * static_cast<double>(k);
    if (k < period) pattern += distance * distance;
    sums.push_back(sums.back() + value);
    squares.push_back(squares.back() + value * value);
  }
  const auto mean = [&](std::size_t from, std::size_t to) { return (sums[to] - sums[from]) / static_cast<double>(to - from); };
  const auto left = [&](std::size_t from, std::size_t to) {
    return squares[to] - squares[from] - mean(from, to) * mean(from, to) * static_cast<double>(to - from);
  };
  for (std::size_t from = 0; from < period; ++from) {
    const std::size_t to = from + period;
    if (left(from, to) < kUnexplainedByStairs * pattern) return true;
    for (std::size_t at = from + 1; at < to; ++at) {
      const double step = mean(at, to) - mean(from, at);
      if (step * rise > 0 && (rise - step) * rise > 0 && left(from, at) + left(at, to) < kUnexplainedByStairs * pattern)
        return true;
    }
  }
  return false;
}

std::size_t periods_of(std::size_t count, double least) { return static_cast<std::size_t>(static_cast<double>(count) / least); }

}  // namespace

std::size_t find_season(std::span<const double> series, std::size_t known) {
  const std::size_t n = series.size();
  if (n < kMinValues) return 0;
  const std::size_t longest = periods_of(n, kMinPeriods);
  std::vector<double> strengths(periods_of(n, kLookedAtPeriods) + 2, 0.0);
  std::size_t best = 0;
  for (std::size_t period = kMinPeriod; period + 1 < strengths.size(); ++period) {
    if (period > kMaxAnyPeriod && std::find(kUsual.begin(), kUsual.end(), period) == kUsual.end()) continue;
    strengths[period] = strength(series, period);
    if (strengths[period] > strengths[best]) best = period;
  }
  const auto count = static_cast<double>(n);
  const double least = std::max(kMinCorrelation, kMinDeviations / std::sqrt(count));
  std::size_t found = strengths[best] < least ? 0 : fundamental(strengths, best);
  if (found > longest || strengths[found] < kCorrelationByPeriods * static_cast<double>(found) / count) found = 0;
  if (found > 0 && is_staircase(series, found)) return 0;
  const double of_known = known < strengths.size() ? strengths[known] : 0;
  if (known > 0 && of_known >= kStays * least && (found == 0 || strengths[found] < of_known + kClearlyStronger)) return known;
  return found;
}

SeasonFilter::SeasonFilter(std::span<const double> series, std::size_t period)
    : series_(series), period_(period), half_(period / 2), distances_(beside_moving_mean(series, period)), amplitudes_{0.0} {
  for (const double distance : distances_) amplitudes_.push_back(amplitudes_.back() + std::abs(distance));
}

std::vector<double> SeasonFilter::all_before(std::size_t end) const {
  std::vector<double> result(series_.begin(), series_.begin() + static_cast<std::ptrdiff_t>(end));
  const std::size_t last = std::min(distances_.size(), end - std::min(end, 2 * half_));  // distances known by then
  for (std::size_t phase = 0; phase < period_; ++phase) {
    std::vector<double> known;
    for (std::size_t i = phase; i < end; i += period_)
      if (i >= half_ && i - half_ < last) known.push_back(distances_[i - half_]);
    if (known.empty()) continue;
    const std::size_t first_known = phase >= half_ ? 0 : 1;  // number of the period that known[0] is of
    const std::size_t count = std::min(kNearest, known.size());
    for (std::size_t i = phase, number = 0; i < end; i += period_, ++number) {
      const std::size_t at = number - std::min(number, first_known);
      const std::size_t from = std::min(at - std::min(at, kNearest / 2), known.size() - count);
      result[i] -= median(std::span(known).subspan(from, count));
    }
  }
  return result;
}

// Mean size of the distances over the period around `before`; 0 where they are not known.
double SeasonFilter::amplitude(std::size_t before) const {
  if (before < period_) return 0;
  const std::size_t from = before - period_, to = std::min(from + period_, distances_.size());
  return (amplitudes_[to] - amplitudes_[from]) / static_cast<double>(period_);
}

double SeasonFilter::ahead(std::size_t index) const {
  std::vector<double> scaled, sizes;
  for (std::size_t back = 1; back <= kNearest && index >= back * period_ + half_; ++back) {
    const std::size_t at = index - back * period_ - half_;
    const double size = amplitude(at + half_);
    if (size <= 0) break;
    sizes.push_back(size);
    scaled.push_back(distances_[at] / size);
  }
  if (sizes.empty()) return series_[index];
  const auto count = static_cast<double>(sizes.size());
  double mean = 0, products = 0, squares = 0;
  for (const double size : sizes) mean += size / count;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const double distance = static_cast<double>(k) - (count - 1) / 2;
    products += distance * (sizes[k] - mean);
    squares += distance * distance;
  }
  const double next = squares > 0 ? mean - products / squares * (count + 1) / 2 : mean;
  return series_[index] - median(scaled) * std::clamp(next, mean / kMaxGrowth, mean * kMaxGrowth);
}

}  // namespace aaco::stats
