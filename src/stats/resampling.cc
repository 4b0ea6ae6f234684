#include "stats/resampling.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "stats/autocorrelation.h"
#include "stats/block_resampler.h"
#include "stats/moments.h"
#include "stats/summary.h"

namespace aaco::stats {
namespace {

constexpr std::int64_t kFewestInner = 200;  // resamples of one session
// Blocks that one resample draws at most. Blocks longer than the correlation asks for keep it as well; what they cost is
// precision of the variance, a relative deviation of sqrt(2 / blocks): 2 % here.
constexpr std::int64_t kMaxBlocks = 4'000;
constexpr std::int64_t kInnerBudget = 200'000'000;  // values drawn for one session, so that long series stay cheap

// The sessions of a side: their logs, and how each moves when its iterations are resampled.
struct Sessions {
  std::vector<double> logs;
  std::vector<std::vector<double>> within;  // deviations of the log
  double within_variance = 0;               // mean
  double within_freedom = 0;
  double effective_count = 0;
};

std::vector<double> resample_blocks(std::span<const double> series, double effective, StatisticChoice choice,
                                    std::int64_t replicates, core::Random& random) {
  const double time = static_cast<double>(series.size()) / effective;
  const auto count = static_cast<std::int64_t>(series.size());
  const std::int64_t block = std::max(block_length(count, time), (count + kMaxBlocks - 1) / kMaxBlocks);
  BlockResampler resampler(series, choice);
  std::vector<double> result;
  result.reserve(static_cast<std::size_t>(replicates));
  for (std::int64_t i = 0; i < replicates; ++i) result.push_back(resampler.draw(block, random));
  return result;
}

Sessions resample_within(std::span<const std::vector<double>> sessions, StatisticChoice choice, std::int64_t replicates,
                         core::Random& random) {
  Sessions result;
  const auto count = static_cast<std::int64_t>(sessions.size());
  for (const std::vector<double>& series : sessions) {
    const double statistic = statistic_of(series, choice);
    AACO_CHECK(statistic > 0);
    const std::int64_t affordable = kInnerBudget / static_cast<std::int64_t>(series.size());
    const std::int64_t inner = std::max(kFewestInner, std::min(replicates / count, affordable));
    const double effective = effective_sample_size(series);  // dear for long series: once per session
    std::vector<double> drawn = resample_blocks(series, effective, choice, inner, random);
    for (double& value : drawn) value = std::log(value / statistic);
    result.logs.push_back(std::log(statistic));
    result.within_variance += variance_of(drawn) / static_cast<double>(count);
    result.within_freedom += std::max(effective - 1, 0.0);
    result.effective_count += effective;
    result.within.push_back(std::move(drawn));
  }
  return result;
}

}  // namespace

double statistic_of(std::span<const double> series, StatisticChoice choice) {
  AACO_CHECK(!series.empty());
  if (!choice) return mean_of(series);
  std::vector<double> sorted(series.begin(), series.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile_of_sorted(sorted, *choice);
}

std::int64_t block_length(std::int64_t count, double correlation_time) {
  if (correlation_time <= 1) return 1;
  const double strength = (correlation_time * correlation_time - 1) / (2 * correlation_time);  // 2 rho / (1 - rho^2)
  const double length = std::ceil(std::cbrt(1.5 * strength * strength * static_cast<double>(count)));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(length), 1, std::max<std::int64_t>(count / 4, 1));
}

std::vector<double> block_bootstrap(std::span<const double> series, StatisticChoice choice, std::int64_t replicates,
                                    core::Random& random) {
  AACO_CHECK(!series.empty());
  return resample_blocks(series, effective_sample_size(series), choice, replicates, random);
}

SideEstimate resample_side(std::span<const std::vector<double>> sessions, StatisticChoice choice, std::int64_t replicates,
                           const std::optional<BetweenSessions>& elsewhere, core::Random& random) {
  AACO_CHECK(!sessions.empty() && replicates > 1);
  const Sessions own = resample_within(sessions, choice, replicates, random);
  const std::size_t count = sessions.size();
  const double k = static_cast<double>(count);
  SideEstimate side;
  side.log_value = mean_of(own.logs);
  side.effective_count = own.effective_count;
  side.between_known = count > 1 || elsewhere.has_value();
  side.degrees_of_freedom = std::max(own.within_freedom, 1.0);
  double stretch = 0, noise = 0;
  if (count > 1) {
    const double observed = variance_of(own.logs);
    side.between_variance = std::max(observed - own.within_variance, 0.0);
    side.degrees_of_freedom = k - 1;
    stretch = observed > 0 ? std::sqrt(side.between_variance / observed * k / (k - 1)) : 0;
  } else if (elsewhere) {
    side.between_variance = elsewhere->variance;
    side.degrees_of_freedom = elsewhere->degrees_of_freedom;
    noise = std::sqrt(elsewhere->variance);
  }
  side.deviations.reserve(static_cast<std::size_t>(replicates));
  for (std::int64_t r = 0; r < replicates; ++r) {
    double sum = 0;
    for (std::size_t draw = 0; draw < count; ++draw) {
      const std::size_t session = random.below(count);
      const std::vector<double>& within = own.within[session];
      sum += stretch * (own.logs[session] - side.log_value) + within[random.below(within.size())];
    }
    side.deviations.push_back(sum / k + (noise > 0 ? noise * random.normal() : 0));
  }
  side.variance = variance_of(side.deviations);
  return side;
}

}  // namespace aaco::stats
