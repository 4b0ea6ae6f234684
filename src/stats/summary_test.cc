#include "stats/summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/random.h"
#include "stats/order_statistics.h"

namespace aaco::stats {
namespace {

std::vector<double> one_to(int count) {
  std::vector<double> series;
  for (int i = 1; i <= count; ++i) series.push_back(i);
  return series;
}

std::vector<double> shuffled_one_to(int count, std::uint64_t seed) {
  std::vector<double> series = one_to(count);
  core::Random random(seed);
  for (std::size_t i = series.size(); i > 1; --i) std::swap(series[i - 1], series[random.below(i)]);
  return series;
}

TEST(Summary, KnownSeries) {
  const Summary summary = summarize(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(summary.count, 8);
  EXPECT_DOUBLE_EQ(*summary.mean, 5);
  EXPECT_DOUBLE_EQ(*summary.standard_deviation, std::sqrt(32.0 / 7));  // by hand: squares 9+1+1+1+0+0+4+16
  EXPECT_DOUBLE_EQ(*summary.coefficient_of_variation, std::sqrt(32.0 / 7) / 5);
  EXPECT_DOUBLE_EQ(*summary.minimum, 2);
  EXPECT_DOUBLE_EQ(*summary.maximum, 9);
  EXPECT_DOUBLE_EQ(summary.p50->value, 4.5);
  EXPECT_EQ(summary.p50->ci95, (Interval{2, 9}));  // 8 values: 1 - 2/256 is the widest, 2nd to 7th covers 93 %
}

TEST(Summary, EmptySeriesYieldsNoStatistics) {
  const Summary summary = summarize({});
  EXPECT_EQ(summary.count, 0);
  EXPECT_FALSE(summary.mean || summary.p50 || summary.minimum || summary.standard_deviation || summary.outliers_high);
}

TEST(Summary, OneValueHasNoSpread) {
  const Summary summary = summarize(std::vector<double>{3});
  EXPECT_DOUBLE_EQ(*summary.mean, 3);
  EXPECT_FALSE(summary.mean_ci95 || summary.standard_deviation || summary.p50 || summary.effective_count);
}

TEST(Summary, ConstantSeriesHasAnIntervalOfNoWidth) {
  const Summary summary = summarize(std::vector<double>(50, 0.1));
  EXPECT_NEAR(*summary.standard_deviation, 0, 1e-15);
  EXPECT_NEAR(summary.mean_ci95->low, 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(*summary.effective_count, 50);
  EXPECT_FALSE(summary.autocorrelation_lag1);
  EXPECT_EQ(summary.outliers_high, 0);
}

TEST(Summary, RefusesP99OfTwentyValues) {
  const Summary summary = summarize(shuffled_one_to(20, 1));
  EXPECT_TRUE(summary.p50);
  EXPECT_TRUE(summary.p90);
  EXPECT_FALSE(summary.p99);
  EXPECT_FALSE(summary.p999);
}

TEST(Summary, QuantileRequiresOneValueBeyondIt) {
  EXPECT_FALSE(summarize(shuffled_one_to(1, 1)).p50);
  EXPECT_TRUE(summarize(shuffled_one_to(2, 1)).p50);
  EXPECT_FALSE(summarize(shuffled_one_to(9, 1)).p90);
  EXPECT_TRUE(summarize(shuffled_one_to(10, 1)).p90);
  EXPECT_FALSE(summarize(shuffled_one_to(19, 1)).p95);
  EXPECT_TRUE(summarize(shuffled_one_to(20, 1)).p95);
  EXPECT_FALSE(summarize(shuffled_one_to(99, 1)).p99);
  EXPECT_TRUE(summarize(shuffled_one_to(100, 1)).p99);
  EXPECT_FALSE(summarize(shuffled_one_to(999, 1)).p999);
  EXPECT_TRUE(summarize(shuffled_one_to(1000, 1)).p999);
  EXPECT_FALSE(summarize(shuffled_one_to(10, 1)).iqr);
  EXPECT_TRUE(summarize(shuffled_one_to(11, 1)).iqr);
}

TEST(Summary, IntervalAppearsAtItsMinimumCount) {
  EXPECT_FALSE(summarize(shuffled_one_to(5, 1)).p50->ci95);
  EXPECT_TRUE(summarize(shuffled_one_to(6, 1)).p50->ci95);
  EXPECT_FALSE(summarize(shuffled_one_to(28, 1)).p90->ci95);
  EXPECT_TRUE(summarize(shuffled_one_to(29, 1)).p90->ci95);
  EXPECT_FALSE(summarize(shuffled_one_to(298, 1)).p99->ci95);
  EXPECT_TRUE(summarize(shuffled_one_to(299, 1)).p99->ci95);
}

TEST(Summary, MinimumCountsMatchWilks) {
  EXPECT_EQ(minimum_count(0.5), 6);
  EXPECT_EQ(minimum_count(0.95), 59);  // the well-known 95/95 sample
  EXPECT_EQ(minimum_count(0.99), 299);
  EXPECT_EQ(minimum_count(0.01), minimum_count(0.99));
}

// Ranks from published tables (Hahn and Meeker: 95 % two-sided for the median of 20 is the 6th and the 15th).
TEST(Summary, MedianIntervalOfTwentyMatchesTable) {
  const auto quantile = supported_quantile(one_to(20), 0.5, 20);
  EXPECT_EQ(quantile->ci95, (Interval{6, 15}));
  EXPECT_EQ(supported_quantile(one_to(100), 0.5, 100)->ci95, (Interval{40, 61}));
}

TEST(Summary, CorrelationWidensTheInterval) {
  EXPECT_EQ(supported_quantile(one_to(100), 0.5, 25)->ci95, (Interval{29, 72}));  // 50.5 -+ 2 * 10.5, outwards
  EXPECT_EQ(supported_quantile(one_to(100), 0.5, 1)->ci95, (Interval{1, 100}));   // no further than the extremes
}

TEST(Summary, QuantilesOfHyndmanAndFanTypeSeven) {
  EXPECT_DOUBLE_EQ(quantile_of_sorted(one_to(10), 0.25), 3.25);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(one_to(10), 0.0), 1);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(one_to(10), 1.0), 10);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(one_to(1), 0.7), 1);
}

TEST(Summary, OutliersAreBeyondThreeInterquartileRanges) {
  std::vector<double> series = shuffled_one_to(100, 3);
  series.push_back(76 + 3 * 51);  // inside: the quartiles are near 26 and 76
  series.push_back(1000);
  series.push_back(-1000);
  const Summary summary = summarize(series);
  EXPECT_EQ(summary.outliers_high, 1);
  EXPECT_EQ(summary.outliers_low, 1);
}

TEST(Summary, DriftComparesTheThirds) {
  EXPECT_NEAR(*summarize(std::vector<double>{10, 10, 10, 11, 11, 11, 12, 12, 12}).drift_ratio, 0.2, 1e-12);
  EXPECT_FALSE(summarize(std::vector<double>{10, 10, 10, 11, 11, 11, 12, 12}).drift_ratio);
  EXPECT_FALSE(summarize(std::vector<double>(30, 0.0)).drift_ratio);  // a ratio to nothing
}

TEST(Summary, NoRatioToAMeanThatIsNotPositive) {
  EXPECT_FALSE(summarize(std::vector<double>{-1, 0, 1}).coefficient_of_variation);
}

// The interval of the mean holds the truth in about 95 of 100 samples, also where values are correlated.
double coverage(double correlation) {
  core::Random random(7);
  int inside = 0;
  constexpr int kTrials = 1000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> series;
    double state = random.normal() / std::sqrt(1 - correlation * correlation);
    for (int i = 0; i < 400; ++i) series.push_back(10 + (state = correlation * state + random.normal()));
    const Interval interval = *summarize(series).mean_ci95;
    if (interval.low <= 10 && 10 <= interval.high) ++inside;
  }
  return static_cast<double>(inside) / kTrials;
}

TEST(Summary, MeanIntervalCoversIndependentValues) { EXPECT_NEAR(coverage(0), 0.95, 0.02); }
TEST(Summary, MeanIntervalCoversCorrelatedValues) { EXPECT_NEAR(coverage(0.7), 0.94, 0.025); }

TEST(SummaryDeathTest, ValuesMustBeFinite) {
  EXPECT_DEATH((void)summarize(std::vector<double>{1, std::numeric_limits<double>::quiet_NaN()}), "isfinite");
}

}  // namespace
}  // namespace aaco::stats
