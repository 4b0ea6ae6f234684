#include "stats/two_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random.h"
#include "stats/block_resampler.h"
#include "stats/resampling.h"

namespace aaco::stats {
namespace {

SampleView view(const std::vector<double>& values) { return {values, static_cast<double>(values.size())}; }

std::vector<double> normal(int count, double mean, std::uint64_t seed) {
  core::Random random(seed);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(mean + random.normal());
  return values;
}

// By hand: means 20.8 and 23.0, variances 1/5 x (...) below; t and df from the formulas.
TEST(Welch, ByHand) {
  const std::vector<double> a{19, 20, 21, 22}, b{22, 24, 26};  // variances 5/3 and 4
  const WelchTest test = *welch_test(view(a), view(b));
  const double part_a = 5.0 / 12, part_b = 4.0 / 3;
  EXPECT_DOUBLE_EQ(test.difference, 3.5);
  EXPECT_NEAR(test.statistic, 3.5 / std::sqrt(part_a + part_b), 1e-12);
  EXPECT_NEAR(test.degrees_of_freedom, std::pow(part_a + part_b, 2) / (part_a * part_a / 3 + part_b * part_b / 2), 1e-12);
  EXPECT_LE(test.ci95.low, 3.5);
}

TEST(Welch, FewerEffectiveValuesWeakenIt) {
  const std::vector<double> a = normal(100, 0, 1), b = normal(100, 0.5, 2);
  EXPECT_LT(welch_test(view(a), view(b))->p_value, welch_test({a, 10}, {b, 10})->p_value);
}

TEST(Welch, RefusesWithoutVarianceOrValues) {
  const std::vector<double> constant(10, 1.0), one{1.0};
  EXPECT_FALSE(welch_test(view(constant), view(constant)));
  EXPECT_FALSE(welch_test(view(one), view(constant)));
  EXPECT_FALSE(welch_test({constant, 1}, view(constant)));
}

// Against counting pairs, and the formula of the normal limit without ties.
TEST(RankTest, EqualsCountingPairs) {
  const std::vector<double> a{1, 3, 5, 7, 9}, b{2, 4, 6, 8, 10, 12};
  double wins = 0;
  for (const double x : a)
    for (const double y : b) wins += y > x;
  const RankTest test = *rank_test(view(a), view(b));
  EXPECT_DOUBLE_EQ(test.superiority_ratio, wins / 30);
  EXPECT_NEAR(test.statistic, (wins - 15 - 0.5) / std::sqrt(5.0 * 6 * 12 / 12), 1e-12);
}

TEST(RankTest, TiesCountHalf) {
  const std::vector<double> a{1, 1, 2, 2}, b{1, 1, 2, 2};
  const RankTest test = *rank_test(view(a), view(b));
  EXPECT_DOUBLE_EQ(test.superiority_ratio, 0.5);
  EXPECT_DOUBLE_EQ(test.p_value, 1);
}

TEST(RankTest, RefusesTooFewAndEqualValues) {
  const std::vector<double> three{1, 2, 3}, constant(10, 1.0);
  EXPECT_FALSE(rank_test(view(three), view(constant)));
  EXPECT_FALSE(rank_test(view(constant), view(constant)));
}

TEST(RankTest, FalseAlarmRateMatchesLevel) {
  int rejected = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed)
    rejected += rank_test(view(normal(12, 0, 2 * seed)), view(normal(15, 0, 2 * seed + 1)))->p_value < 0.05;
  EXPECT_NEAR(rejected, 50, 21);
}

TEST(Shift, EqualsTheMedianOfAllDifferences) {
  for (const auto& [m, n] : {std::pair{7, 9}, std::pair{4, 4}, std::pair{30, 21}}) {
    const std::vector<double> a = normal(m, 0, 5), b = normal(n, 1, 6);
    std::vector<double> differences;
    for (const double x : a)
      for (const double y : b) differences.push_back(y - x);
    std::sort(differences.begin(), differences.end());
    const ShiftEstimate shift = *shift_estimate(view(a), view(b));
    EXPECT_NEAR(shift.value, quantile_of_sorted(differences, 0.5), 1e-12);
    EXPECT_TRUE(std::binary_search(differences.begin(), differences.end(), shift.ci95.low));
    EXPECT_LE(shift.ci95.low, shift.value);
    EXPECT_GE(shift.ci95.high, shift.value);
  }
}

TEST(Shift, IntervalCoversTrueValue) {
  int inside = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const Interval interval = shift_estimate(view(normal(20, 0, 2 * seed)), view(normal(25, 1, 2 * seed + 1)))->ci95;
    inside += interval.low <= 1 && 1 <= interval.high;
  }
  EXPECT_NEAR(inside, 475, 17);
}

TEST(Shift, RefusesTooFew) { EXPECT_FALSE(shift_estimate(view({1, 2, 3}), view({1, 2, 3, 4}))); }

TEST(BlockBootstrap, BlocksGrowWithCorrelation) {
  EXPECT_EQ(block_length(1000, 1), 1);
  EXPECT_GT(block_length(1000, 5), 5);
  EXPECT_LE(block_length(20, 100), 5);
}

// The scatter of the resampled mean is that of the mean: 1 / sqrt(n), and sqrt((1 + r) / (1 - r)) times it when correlated.
double scatter_of_mean(double correlation) {
  core::Random random(8);
  std::vector<double> series;
  double state = 0;
  for (int i = 0; i < 4000; ++i)
    series.push_back(state = correlation * state + std::sqrt(1 - correlation * correlation) * random.normal());
  const std::vector<double> means = block_bootstrap(series, std::nullopt, 500, random);
  double squares = 0;
  for (const double value : means) squares += std::pow(value - statistic_of(series, std::nullopt), 2);
  return std::sqrt(squares / 500 * 4000);
}

TEST(BlockBootstrap, ScatterOfIndependentValues) { EXPECT_NEAR(scatter_of_mean(0), 1, 0.12); }
TEST(BlockBootstrap, ScatterOfCorrelatedValues) { EXPECT_NEAR(scatter_of_mean(0.6), 2, 0.35); }

// Each resample by its definition, sorted, beside what is drawn with the same random numbers.
void expect_sorted_resamples(std::span<const double> series, StatisticChoice choice, std::int64_t block) {
  core::Random fast(5), plain(5);
  BlockResampler resampler(series, choice);
  for (int replicate = 0; replicate < 80; ++replicate) {
    std::vector<double> drawn;
    while (drawn.size() < series.size()) {
      std::size_t at = plain.below(series.size());
      for (std::int64_t i = 0; i < block && drawn.size() < series.size(); ++i) drawn.push_back(series[at++ % series.size()]);
    }
    EXPECT_NEAR(resampler.draw(block, fast), statistic_of(drawn, choice), 1e-9);
  }
}

TEST(BlockBootstrap, EveryResampleIsThatOfItsDefinition) {
  core::Random random(3);
  std::vector<double> series;
  for (int i = 0; i < 2000; ++i) series.push_back(std::floor(100 + 8 * random.normal()) + (i / 400) * 5);  // ties and steps
  for (const StatisticChoice choice : {StatisticChoice{}, StatisticChoice{0.5}, StatisticChoice{0.9}, StatisticChoice{0.99}})
    for (const std::int64_t block : {1, 7, 250, 2000}) expect_sorted_resamples(series, choice, block);
  for (const std::int64_t block : {1, 2}) expect_sorted_resamples(std::vector<double>{3, 1, 2}, 0.99, block);
  expect_sorted_resamples(std::vector<double>{4}, 0.5, 1);
}

TEST(BlockBootstrap, QuantileOfAConstantIsIt) {
  core::Random random(1);
  for (const double value : block_bootstrap(std::vector<double>(9, 3.5), 0.5, 100, random)) EXPECT_EQ(value, 3.5);
}

}  // namespace
}  // namespace aaco::stats
