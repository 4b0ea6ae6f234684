#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/random.h"
#include "stats/distributions.h"
#include "stats/fits.h"
#include "stats/robust.h"

namespace aaco::stats {
namespace {

using core::ErrorCode;

constexpr std::size_t kMaxPoints = 3000;        // 4.5 million slopes, 36 MB
constexpr std::size_t kFewestSampled = 500;     // points: below, sampling costs more than it saves
constexpr std::size_t kSampledSlopes = 16'384;  // slopes
constexpr std::uint64_t kSamplingSeed = 1;      // the result does not depend on it
constexpr double kEverything = std::numeric_limits<double>::infinity();
constexpr std::size_t kFewestForInterval = 5;  // below it no interval of Kendall's statistic is inside the slopes

// SpacedRanks of all slopes that are needed: the two of the median, and the ends of the interval.
struct SpacedRanks {
  std::size_t median_low = 0, median_high = 0;
  std::optional<std::pair<std::size_t, std::size_t>> interval;
  [[nodiscard]] std::size_t least() const { return interval ? std::min(interval->first, median_low) : median_low; }
  [[nodiscard]] std::size_t most() const { return interval ? std::max(interval->second, median_high) : median_high; }
};

// The interval: slopes between which the truth lies. Kendall's statistic has variance n (n-1) (2n+5) / 18 without ties.
SpacedRanks ranks_of(std::size_t slopes, std::size_t points) {
  SpacedRanks ranks;
  ranks.median_high = slopes / 2;
  ranks.median_low = slopes % 2 == 1 ? ranks.median_high : ranks.median_high - 1;
  if (points < kFewestForInterval) return ranks;
  const double n = static_cast<double>(points), count = static_cast<double>(slopes);
  const double reach = normal_quantile(0.975) * std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  ranks.interval.emplace(static_cast<std::size_t>(std::max(std::floor((count - reach) / 2) - 1, 0.0)),
                         static_cast<std::size_t>(std::min(std::ceil((count + reach) / 2), count - 1)));
  return ranks;
}

// Slopes within a range of values, and how many there are below it and in all.
struct Slopes {
  std::vector<double> values;
  std::size_t below = 0, count = 0;
  [[nodiscard]] bool has(const SpacedRanks& ranks) const {
    return below <= ranks.least() && ranks.most() < below + values.size();
  }
  // By selection: four ranks of millions of slopes are read, so that sorting them would be most of the work.
  double at(std::size_t rank) {
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank - below);
    std::nth_element(values.begin(), place, values.end());
    return *place;
  }
};

Slopes slopes_within(std::span<const double> x, std::span<const double> y, double low, double high) {
  Slopes slopes;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = i + 1; j < x.size(); ++j) {
      if (x[i] == x[j]) continue;
      const double slope = (y[j] - y[i]) / (x[j] - x[i]);
      if (std::isnan(slope)) continue;  // both differences overflow
      ++slopes.count;
      if (slope < low)
        ++slopes.below;
      else if (slope <= high)
        slopes.values.push_back(slope);
    }
  return slopes;
}

// Around the ranks that are needed, by a sample of the slopes: between these values lie all of them, or a few too few.
std::pair<double, double> likely_range(std::span<const double> x, std::span<const double> y) {
  core::Random random(kSamplingSeed);
  std::vector<double> sample;
  for (std::size_t turn = 0; turn < 2 * kSampledSlopes && sample.size() < kSampledSlopes; ++turn) {
    const auto i = static_cast<std::size_t>(random.below(x.size())), j = static_cast<std::size_t>(random.below(x.size()));
    if (x[i] != x[j]) sample.push_back((y[j] - y[i]) / (x[j] - x[i]));
  }
  if (sample.size() < kSampledSlopes) return {-kEverything, kEverything};
  std::sort(sample.begin(), sample.end());
  const std::size_t all = x.size() * (x.size() - 1) / 2;
  const SpacedRanks ranks = ranks_of(all, x.size());
  constexpr double kDeviations = 5;
  const double margin = kDeviations * 0.5 / std::sqrt(static_cast<double>(kSampledSlopes));
  const auto value_at = [&](double share) {
    return sample[static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(sample.size() - 1))];
  };
  return {value_at(static_cast<double>(ranks.least()) / static_cast<double>(all) - margin),
          value_at(static_cast<double>(ranks.most()) / static_cast<double>(all) + margin)};
}

// At least those with the ranks that are needed.
Slopes slopes_of(std::span<const double> x, std::span<const double> y) {
  if (x.size() >= kFewestSampled) {
    const auto [low, high] = likely_range(x, y);
    Slopes slopes = slopes_within(x, y, low, high);
    if (slopes.count > 0 && slopes.has(ranks_of(slopes.count, x.size()))) return slopes;
  }
  return slopes_within(x, y, -kEverything, kEverything);
}

struct Pool {
  double mean = 0;
  double weight = 0;
  std::size_t count = 0;
};

}  // namespace

core::Result<RobustLine> theil_sen(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size() || x.size() > kMaxPoints)
    return core::fail(ErrorCode::invalid_argument,
                      "a robust line fit requires equal numbers of x and y values, at most " + std::to_string(kMaxPoints));
  if (!all_finite(x) || !all_finite(y)) return core::fail(ErrorCode::invalid_input, "a robust line fit requires finite values");
  Slopes slopes = slopes_of(x, y);
  if (slopes.count == 0) return core::fail(ErrorCode::invalid_input, "a line fit requires at least two distinct x values");
  const SpacedRanks ranks = ranks_of(slopes.count, x.size());
  RobustLine line;
  line.slope = (slopes.at(ranks.median_low) + slopes.at(ranks.median_high)) / 2;
  if (ranks.interval) line.slope_ci95 = Interval{slopes.at(ranks.interval->first), slopes.at(ranks.interval->second)};
  std::vector<double> rest(y.begin(), y.end());
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= line.slope * x[i];
  line.intercept = median(rest);
  return line;
}

core::Result<std::vector<double>> isotonic(std::span<const double> values, std::span<const double> weights) {
  if (!weights.empty() && weights.size() != values.size())
    return core::fail(ErrorCode::invalid_argument, "an isotonic fit requires one weight per value, or no weights");
  const bool positive =
      std::all_of(weights.begin(), weights.end(), [](double weight) { return std::isfinite(weight) && weight > 0; });
  if (!positive || !all_finite(values))
    return core::fail(ErrorCode::invalid_input, "an isotonic fit requires finite values and positive weights");
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < values.size(); ++i) {
    pools.push_back({values[i], weights.empty() ? 1 : weights[i], 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean > pools.back().mean) {
      const Pool last = pools.back();
      pools.pop_back();
      Pool& before = pools.back();
      before.mean = (before.mean * before.weight + last.mean * last.weight) / (before.weight + last.weight);
      before.weight += last.weight;
      before.count += last.count;
    }
  }
  std::vector<double> fitted;
  for (const Pool& pool : pools) fitted.insert(fitted.end(), pool.count, pool.mean);
  return fitted;
}

}  // namespace aaco::stats
