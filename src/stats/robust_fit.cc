#include <algorithm>
#include <cmath>

#include "stats/distributions.h"
#include "stats/fits.h"
#include "stats/robust.h"

namespace aaco::stats {
namespace {

using core::ErrorCode;

constexpr std::size_t kMaxPoints = 3000;       // 4.5 million slopes, 36 MB
constexpr std::size_t kFewestForInterval = 5;  // below it no interval of Kendall's statistic is inside the slopes

std::vector<double> slopes_of(std::span<const double> x, std::span<const double> y) {
  std::vector<double> slopes;
  slopes.reserve(x.size() * (x.size() - std::min<std::size_t>(x.size(), 1)) / 2);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = i + 1; j < x.size(); ++j)
      if (x[i] != x[j]) slopes.push_back((y[j] - y[i]) / (x[j] - x[i]));
  return slopes;
}

// The value of a rank, by selection: four ranks of millions of slopes are read, so that sorting them would be most of the work.
double ranked(std::vector<double>& slopes, std::size_t rank) {
  const auto place = slopes.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(slopes.begin(), place, slopes.end());
  return *place;
}

double median_of(std::vector<double>& slopes) {
  const double upper = ranked(slopes, slopes.size() / 2);
  if (slopes.size() % 2 == 1) return upper;
  return (*std::max_element(slopes.begin(), slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2)) + upper) / 2;
}

// The slopes between which the truth lies: Kendall's statistic has variance n (n-1) (2n+5) / 18 without ties.
std::optional<Interval> slope_interval(std::vector<double>& slopes, std::size_t points) {
  if (points < kFewestForInterval) return std::nullopt;
  const double n = static_cast<double>(points), count = static_cast<double>(slopes.size());
  const double reach = normal_quantile(0.975) * std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  const double low = std::max(std::floor((count - reach) / 2) - 1, 0.0);
  const double high = std::min(std::ceil((count + reach) / 2), count - 1);
  return Interval{ranked(slopes, static_cast<std::size_t>(low)), ranked(slopes, static_cast<std::size_t>(high))};
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
  std::vector<double> slopes = slopes_of(x, y);
  if (slopes.empty()) return core::fail(ErrorCode::invalid_input, "a line fit requires at least two distinct x values");
  RobustLine line;
  line.slope = median_of(slopes);
  line.slope_ci95 = slope_interval(slopes, x.size());
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
