#include "stats/changepoint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "core/random.h"
#include "stats/online_changes.h"

namespace aaco::stats {
namespace {

using Places = std::vector<std::int64_t>;

Places places(const std::vector<double>& series) {
  Places result;
  for (const ChangePoint& change : find_changes(series)) result.push_back(change.index);
  return result;
}

Places online_places(const std::vector<double>& series) {
  OnlineChangeDetector detector;
  for (const double value : series) detector.add(value);
  return detector.changes();
}

// Normal noise of deviation 1 around a level for each index; `correlation` of neighbours.
std::vector<double> series_of(int count, const std::function<double(int)>& level, std::uint64_t seed = 1,
                              double correlation = 0) {
  core::Random random(seed);
  std::vector<double> series;
  double state = random.normal();
  for (int i = 0; i < count; ++i) {
    series.push_back(level(i) + state);
    state = correlation * state + std::sqrt(1 - correlation * correlation) * random.normal();
  }
  return series;
}

double flat(int) { return 0; }
double step_at_50(int i) { return i < 50 ? 0 : 4; }
double last_five(int i) { return i < 95 ? 0 : 6; }
double stairs(int i) { return 5.0 * (i / 100); }

// Of 200 series without a change, how many are said to have one.
int false_alarms(int count, double correlation, Places (*find)(const std::vector<double>&)) {
  int alarms = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) alarms += !find(series_of(count, flat, seed, correlation)).empty();
  return alarms;
}

TEST(Changes, FindsAStep) {
  const auto changes = find_changes(series_of(100, step_at_50));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_NEAR(static_cast<double>(changes[0].index), 50, 1);
  EXPECT_NEAR(changes[0].before, 0, 0.5);
  EXPECT_NEAR(changes[0].after, 4, 0.5);
  EXPECT_LT(changes[0].p_value, 1e-6);
}

TEST(Changes, FindsTheLastFewValues) {
  const Places found = places(series_of(100, last_five));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(static_cast<double>(found[0]), 95, 1);
}

TEST(Changes, FindsStairs) {
  const Places found = places(series_of(500, stairs));
  ASSERT_EQ(found.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(static_cast<double>(found[i]), 100.0 * static_cast<double>(i + 1), 2);
}

TEST(Changes, FindsThePlaceInALongSeries) {
  const Places found = places(series_of(50'000, [](int i) { return i < 33'333 ? 0.0 : 4.0; }));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(static_cast<double>(found[0]), 33'333, 2);
}

TEST(Changes, ScaleAndUnitDoNotMatter) {
  std::vector<double> series = series_of(100, step_at_50);
  const Places found = places(series);
  for (double& value : series) value = std::exp(value / 4) * 1e6;
  EXPECT_EQ(places(series), found);
}

TEST(Changes, OutliersAreNoChange) {
  std::vector<double> series = series_of(100, flat);
  series[20] = 1e6;
  series[60] = -1e6;
  series[61] = 1e6;
  EXPECT_TRUE(places(series).empty());
}

TEST(Changes, FewFalseAlarms) {
  EXPECT_LE(false_alarms(100, 0, places), 4);
  EXPECT_LE(false_alarms(300, 0.5, places), 16);
  EXPECT_LE(false_alarms(100, 0, online_places), 10);
}

TEST(Changes, RefusesTooFewValuesAndConstants) {
  EXPECT_TRUE(find_changes({}).empty());
  EXPECT_TRUE(find_changes(std::vector<double>{1, 1, 9, 9, 9}).empty());
  EXPECT_TRUE(find_changes(std::vector<double>(100, 3.0)).empty());
}

TEST(Changes, TiesDoNotTurnIntoChanges) {
  core::Random random(4);
  std::vector<double> series;
  for (int i = 0; i < 200; ++i) series.push_back(random.below(10) == 0 ? 11 : 10);
  EXPECT_TRUE(places(series).empty());
}

TEST(ChangesDeathTest, ValuesMustBeFinite) {
  EXPECT_DEATH((void)find_changes(std::vector<double>(10, std::numeric_limits<double>::infinity())), "isfinite");
}

TEST(OnlineChanges, RunLengthFollowsTheStep) {
  OnlineChangeDetector detector;
  const std::vector<double> series = series_of(80, step_at_50);
  for (int i = 0; i < 50; ++i) detector.add(series[static_cast<std::size_t>(i)]);
  EXPECT_EQ(detector.run_length(), 50);
  EXPECT_LT(detector.change_probability(10), 0.2);
  for (int i = 50; i < 60; ++i) detector.add(series[static_cast<std::size_t>(i)]);
  EXPECT_NEAR(static_cast<double>(detector.run_length()), 10, 1);
  EXPECT_GT(detector.change_probability(11), 0.9);
}

TEST(OnlineChanges, SilentDuringLearning) {
  OnlineChangeDetector detector;
  for (int i = 0; i < 9; ++i) detector.add(i < 5 ? 0 : 100);
  EXPECT_EQ(detector.run_length(), 0);
  EXPECT_EQ(detector.change_probability(9), 0);
  EXPECT_TRUE(detector.changes().empty());
}

TEST(OnlineChanges, ConstantThenStep) {
  std::vector<double> series(30, 5.0);
  series.insert(series.end(), 10, 6.0);
  EXPECT_EQ(online_places(series), (Places{30}));
}

TEST(OnlineChangesDeathTest, ValuesMustBeFinite) {
  OnlineChangeDetector detector;
  EXPECT_DEATH(detector.add(NAN), "isfinite");
}

}  // namespace
}  // namespace aaco::stats
