#include "stats/signed_rank.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/check.h"
#include "stats/distributions.h"
#include "stats/moments.h"

namespace aaco::stats {
namespace {

constexpr std::size_t kExactCount = 60;

// The largest c with P(W < c) <= 2.5 %, W the sum of the positive ranks without an effect: the interval runs from the c-th
// smallest pairwise mean to the c-th largest.
std::size_t exact_critical_rank(std::size_t count) {
  const std::size_t largest = count * (count + 1) / 2;
  std::vector<double> probability(largest + 1, 0.0);
  probability[0] = 1;
  for (std::size_t rank = 1; rank <= count; ++rank) {
    for (std::size_t sum = largest + 1; sum-- > 0;) {
      probability[sum] = (probability[sum] + (sum >= rank ? probability[sum - rank] : 0)) / 2;
    }
  }
  double below = 0;
  std::size_t critical = 0;
  while (critical < largest && below + probability[critical] <= 0.025) below += probability[critical++];
  return critical;
}

std::size_t critical_rank(std::size_t count) {
  if (count <= kExactCount) return exact_critical_rank(count);
  const double n = static_cast<double>(count);
  const double deviation = std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
  return static_cast<std::size_t>(n * (n + 1) / 4 - normal_quantile(0.975) * deviation);
}

}  // namespace

LocationEstimate signed_rank_location(std::span<const double> values) {
  AACO_CHECK(values.size() >= kSignedRankMinimumCount);
  std::vector<double> means;
  means.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) means.push_back((values[i] + values[j]) / 2);
  }
  std::sort(means.begin(), means.end());
  const std::size_t rank = std::max<std::size_t>(critical_rank(values.size()), 1);
  return {quantile_of_sorted(means, 0.5), {means[rank - 1], means[means.size() - rank]}};
}

LocationEstimate mean_location(std::span<const double> values) {
  AACO_CHECK(values.size() >= 2);
  const double n = static_cast<double>(values.size());
  const double mean = mean_of(values);
  const double half_width = student_t_quantile(0.975, n - 1) * std::sqrt(variance_of(values) / n);
  return {mean, {mean - half_width, mean + half_width}};
}

}  // namespace aaco::stats
