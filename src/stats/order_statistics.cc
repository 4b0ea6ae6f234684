#include "stats/order_statistics.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "stats/distributions.h"

namespace aaco::stats {
namespace {

struct Ranks {  // from 1
  std::int64_t low = 1;
  std::int64_t high = 1;
};

// The smallest k in [low, high] for which `holds(k)`, which is monotone and true at `high`.
template <class Predicate>
std::int64_t first_where(std::int64_t low, std::int64_t high, Predicate holds) {
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// B, the number of values at or below the quantile, is binomial; the interval misses when B < low or B >=
// high. Equal tails, unless one extreme alone already exceeds its half: then the other side gets what is
// left.
Ranks interval_ranks(std::int64_t count, double probability, double level) {
  const double n = static_cast<double>(count);
  const double missed = 1 - level;
  const double least_low = std::pow(1 - probability, n);
  const double least_high = std::pow(probability, n);
  double low_tail = missed / 2;
  double high_tail = missed / 2;
  if (least_high > high_tail) {
    high_tail = least_high;
    low_tail = missed - least_high;
  } else if (least_low > low_tail) {
    low_tail = least_low;
    high_tail = missed - least_low;
  }
  constexpr double kRounding = 1e-12;
  const std::int64_t first_too_high =
      first_where(2, count + 1, [&](std::int64_t k) { return binomial_cdf(k - 1, count, probability) > low_tail; });
  const std::int64_t high =
      first_where(1, count, [&](std::int64_t k) { return 1 - binomial_cdf(k - 1, count, probability) <= high_tail + kRounding; });
  return {std::max<std::int64_t>(first_too_high - 1, 1), high};
}

double stretched_rank(double rank, double centre, double factor, double count) {
  return std::clamp(centre + (rank - centre) * factor, 1.0, count);
}

}  // namespace

std::int64_t minimum_count(double probability, double level) {
  AACO_CHECK(probability > 0 && probability < 1 && level > 0 && level < 1);
  return first_where(1, std::int64_t{1} << 40, [&](std::int64_t n) {
    const double count = static_cast<double>(n);
    return 1 - std::pow(probability, count) - std::pow(1 - probability, count) >= level;
  });
}

std::int64_t stated_count(double probability) {
  AACO_CHECK(probability > 0 && probability < 1);
  constexpr double kRounding = 1e-9;  // 1 / (1 - 0.9) is a little above 10
  const double beyond = std::min(probability, 1 - probability);
  return std::max<std::int64_t>(2, static_cast<std::int64_t>(std::ceil(1 / beyond - kRounding)));
}

std::optional<Quantile> supported_quantile(std::span<const double> sorted, double probability, double effective_count) {
  constexpr double kLevel = 0.95;
  const auto count = static_cast<std::int64_t>(sorted.size());
  if (count < stated_count(probability)) return std::nullopt;
  if (count < minimum_count(probability, kLevel))
    return Quantile{probability, quantile_of_sorted(sorted, probability), std::nullopt};
  const Ranks ranks = interval_ranks(count, probability, kLevel);
  const double n = static_cast<double>(count);
  const double factor = std::sqrt(n / std::clamp(effective_count, 1.0, n));
  const double centre = 1 + (n - 1) * probability;
  const double low = std::floor(stretched_rank(static_cast<double>(ranks.low), centre, factor, n));
  const double high = std::ceil(stretched_rank(static_cast<double>(ranks.high), centre, factor, n));
  return Quantile{probability, quantile_of_sorted(sorted, probability),
                  Interval{sorted[static_cast<std::size_t>(low) - 1], sorted[static_cast<std::size_t>(high) - 1]}};
}

}  // namespace aaco::stats
