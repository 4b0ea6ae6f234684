#include "stats/proportion.h"

#include "core/check.h"
#include "stats/distributions.h"

namespace aaco::stats {
namespace {

constexpr int kHalvings = 60;  // of [0, 1]: beyond the precision of a double

// The probability at which a function that falls with it is `wanted`.
template <class F>
double where(F&& falling, double wanted) {
  double low = 0, high = 1;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (falling(middle) > wanted ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

Interval proportion_interval(std::int64_t successes, std::int64_t trials, double level) {
  AACO_CHECK(trials > 0 && successes >= 0 && successes <= trials && level > 0 && level < 1);
  const double tail = (1 - level) / 2;
  Interval interval{0, 1};
  if (successes > 0) interval.low = where([&](double p) { return binomial_cdf(successes - 1, trials, p); }, 1 - tail);
  if (successes < trials) interval.high = where([&](double p) { return binomial_cdf(successes, trials, p); }, tail);
  return interval;
}

}  // namespace aaco::stats
