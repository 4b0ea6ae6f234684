#include "stats/two_sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "stats/distributions.h"
#include "stats/moments.h"
#include "stats/ranks.h"

namespace aaco::stats {
namespace {

constexpr std::size_t kFewestRanked = 4;

// Standard deviation of the share U / (m n) without an effect, ties not considered.
double share_deviation(const SampleView& a, const SampleView& b) {
  const double m = a.effective_count, n = b.effective_count;
  return std::sqrt((1 / m + 1 / n + 1 / (m * n)) / 12);
}

// 1 without ties, 0 where all values are equal.
double tie_factor(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  double ties = 0;
  for (auto start = values.begin(); start != values.end();) {
    const auto end = std::upper_bound(start, values.end(), *start);
    const double count = static_cast<double>(end - start);
    ties += count * count * count - count;
    start = end;
  }
  return 1 - ties / (n * n * n - n);
}

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> result(values.begin(), values.end());
  std::sort(result.begin(), result.end());
  return result;
}

// How many differences b - a are at most `limit`.
double count_at_most(std::span<const double> a, std::span<const double> b, double limit) {
  double count = 0;
  std::size_t below = 0;  // values of b that are near enough to this a; grows with a
  for (const double value : a) {
    while (below < b.size() && b[below] - value <= limit) ++below;
    count += static_cast<double>(below);
  }
  return count;
}

// The rank-th smallest difference (from 1), by bisection down to neighbouring doubles.
double ranked_difference(std::span<const double> a, std::span<const double> b, double rank) {
  double low = b.front() - a.back();
  double high = b.back() - a.front();
  if (count_at_most(a, b, low) >= rank) return low;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    (count_at_most(a, b, middle) >= rank ? high : low) = middle;
  }
}

}  // namespace

std::optional<WelchTest> welch_test(const SampleView& a, const SampleView& b) {
  if (a.values.size() < 2 || b.values.size() < 2 || a.effective_count < 2 || b.effective_count < 2) return std::nullopt;
  const double part_a = variance_of(a.values) / a.effective_count, part_b = variance_of(b.values) / b.effective_count;
  const double variance = part_a + part_b;
  if (variance <= 0) return std::nullopt;
  WelchTest test;
  test.difference = mean_of(b.values) - mean_of(a.values);
  test.statistic = test.difference / std::sqrt(variance);
  test.degrees_of_freedom =
      variance * variance / (part_a * part_a / (a.effective_count - 1) + part_b * part_b / (b.effective_count - 1));
  test.p_value = 2 * student_t_cdf(-std::abs(test.statistic), test.degrees_of_freedom);
  const double half_width = student_t_quantile(0.975, test.degrees_of_freedom) * std::sqrt(variance);
  test.ci95 = {test.difference - half_width, test.difference + half_width};
  return test;
}

std::optional<RankTest> rank_test(const SampleView& a, const SampleView& b) {
  if (a.values.size() < kFewestRanked || b.values.size() < kFewestRanked) return std::nullopt;
  std::vector<double> both(a.values.begin(), a.values.end());
  both.insert(both.end(), b.values.begin(), b.values.end());
  const double ties = tie_factor(both);
  if (ties <= 0) return std::nullopt;
  const std::vector<double> ranks = mid_ranks(both);
  const double m = static_cast<double>(a.values.size()), n = static_cast<double>(b.values.size());
  const double rank_sum = std::accumulate(ranks.begin() + static_cast<std::ptrdiff_t>(a.values.size()), ranks.end(), 0.0);
  RankTest test;
  test.superiority_ratio = (rank_sum - n * (n + 1) / 2) / (m * n);
  const double distance = std::max(std::abs(test.superiority_ratio - 0.5) - 0.5 / (m * n), 0.0);
  test.statistic = std::copysign(distance / (share_deviation(a, b) * std::sqrt(ties)), test.superiority_ratio - 0.5);
  test.p_value = 2 * normal_cdf(-std::abs(test.statistic));
  return test;
}

std::optional<ShiftEstimate> shift_estimate(const SampleView& a, const SampleView& b) {
  if (a.values.size() < kFewestRanked || b.values.size() < kFewestRanked) return std::nullopt;
  const std::vector<double> of_a = sorted(a.values), of_b = sorted(b.values);
  const double pairs = static_cast<double>(of_a.size()) * static_cast<double>(of_b.size());
  const double reach = normal_quantile(0.975) * share_deviation(a, b) * pairs;
  const auto at = [&](double rank) { return ranked_difference(of_a, of_b, std::clamp(rank, 1.0, pairs)); };
  const double middle_low = at(std::floor((pairs + 1) / 2)), middle_high = at(std::ceil((pairs + 1) / 2));
  return ShiftEstimate{(middle_low + middle_high) / 2, {at(std::floor(pairs / 2 - reach)), at(std::ceil(pairs / 2 + reach) + 1)}};
}

}  // namespace aaco::stats
