#include "stats/warmup.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "core/random.h"

namespace aaco::stats {
namespace {

// `noise` is the relative standard deviation around the level of each index.
std::vector<double> series_of(int count, double noise, const std::function<double(int)>& level, std::uint64_t seed = 5) {
  core::Random random(seed);
  std::vector<double> series;
  for (int i = 0; i < count; ++i) series.push_back(level(i) * (1 + noise * random.normal()));
  return series;
}

double flat(int) { return 100; }
double step_at_20(int i) { return i < 20 ? 150 : 100; }
double decay(int i) { return 100 + 300 * std::exp(-i / 5.0); }
double slow_drift(int i) { return 100 + 0.01 * i; }
double steep_drift(int i) { return 100 + 3.0 * i; }

TEST(Warmup, FlatSeriesNeedsNone) {
  const WarmupVerdict verdict = find_warmup_end(series_of(40, 0.02, flat));
  EXPECT_TRUE(verdict.stationary);
  EXPECT_EQ(verdict.first_stationary, 0);
}

TEST(Warmup, FirstSlowCallIsDropped) {
  std::vector<double> series = series_of(20, 0.01, flat);
  series[0] = 900;
  series[1] = 140;
  const WarmupVerdict verdict = find_warmup_end(series);
  EXPECT_TRUE(verdict.stationary);
  EXPECT_EQ(verdict.first_stationary, 2);
}

TEST(Warmup, StepIsFound) {
  const WarmupVerdict verdict = find_warmup_end(series_of(60, 0.02, step_at_20));
  EXPECT_TRUE(verdict.stationary);
  EXPECT_NEAR(static_cast<double>(verdict.first_stationary), 20, 1);
}

TEST(Warmup, DecayEndsWhereItNoLongerMatters) {
  const WarmupVerdict verdict = find_warmup_end(series_of(100, 0.01, decay));
  EXPECT_TRUE(verdict.stationary);
  EXPECT_GE(verdict.first_stationary, 10);  // 300 exp(-10/5) is still 40 %
  EXPECT_LE(verdict.first_stationary, 40);
}

TEST(Warmup, OutliersDoNotDelayIt) {
  std::vector<double> series = series_of(60, 0.02, flat);
  series[30] = 500;
  series[55] = 700;
  series[59] = 300;
  const WarmupVerdict verdict = find_warmup_end(series);
  EXPECT_TRUE(verdict.stationary);
  EXPECT_EQ(verdict.first_stationary, 0);
}

TEST(Warmup, SlowDriftDoesNotPreventIt) {
  EXPECT_TRUE(find_warmup_end(series_of(1000, 0.01, slow_drift)).stationary);
  EXPECT_TRUE(find_warmup_end(series_of(3000, 0.05, slow_drift)).stationary);
}

TEST(Warmup, NoisyMachineSettles) {
  int settled = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) settled += find_warmup_end(series_of(50, 0.25, flat, seed)).stationary;
  EXPECT_GE(settled, 180);
}

TEST(Warmup, ConstantSeriesIsStationary) { EXPECT_TRUE(find_warmup_end(std::vector<double>(8, 5.0)).stationary); }

TEST(Warmup, RefusesTooFewValues) {
  EXPECT_FALSE(find_warmup_end({}).stationary);
  EXPECT_FALSE(find_warmup_end(series_of(7, 0.01, flat)).stationary);
  EXPECT_FALSE(find_warmup_end(series_of(40, 0.01, flat), 50).stationary);
}

TEST(Warmup, RefusesJustAfterAStep) {
  const WarmupVerdict verdict = find_warmup_end(series_of(25, 0.01, step_at_20));
  EXPECT_FALSE(verdict.stationary);
  EXPECT_GE(verdict.first_stationary, 19);
}

TEST(Warmup, RefusesASteepTrend) {
  const WarmupVerdict verdict = find_warmup_end(series_of(12, 0.005, steep_drift));
  EXPECT_FALSE(verdict.stationary);
  EXPECT_FALSE(find_warmup_end(series_of(60, 0.005, steep_drift)).stationary);
}

TEST(Warmup, RefusesDecayInItsMiddle) { EXPECT_FALSE(find_warmup_end(series_of(10, 0.005, decay)).stationary); }

}  // namespace
}  // namespace aaco::stats
