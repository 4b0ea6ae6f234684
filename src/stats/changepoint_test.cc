#include "stats/changepoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/random.h"
#include "stats/change_series_testing.h"
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
  const std::vector<double> series = series_of(100, step_at_50);
  const Places found = places(series);
  for (const double factor : {1e-300, -1e-3, 1e6, 1e300}) {
    std::vector<double> scaled;
    for (const double value : series) scaled.push_back(factor * (value + 20));
    EXPECT_EQ(places(scaled), found) << factor;
  }
}

TEST(Changes, OutliersAreNoChange) {
  std::vector<double> series = series_of(100, flat);
  series[20] = 1e6;
  series[60] = -1e6;
  series[61] = 1e6;
  EXPECT_TRUE(places(series).empty());
}

// 5 % are 10 of 200; scripts/proofs/change_points.py has all lengths and correlations.
TEST(Changes, FewFalseAlarms) {
  EXPECT_LE(false_alarms(100, 0, places), 10);
  EXPECT_LE(false_alarms(50, 0.8, places), 15);
  EXPECT_LE(false_alarms(200, 0.5, places), 15);
  EXPECT_LE(false_alarms(100, 0, online_places), 10);
}

// Whether a change at `place`, at most 2 values off, is among those of the first `count` values.
bool reported(const std::vector<double>& series, std::int64_t count, std::int64_t place) {
  const Places found = places({series.begin(), series.begin() + count});
  return std::any_of(found.begin(), found.end(), [&](std::int64_t one) { return std::abs(one - place) <= 2; });
}

// Of 100 series with a step of 6 deviations at `place`, those that have it reported with its third value and with every longer
// prefix.
int confirmed_steps(int place) {
  int confirmed = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const std::vector<double> series = series_of(
        place + 23, [place](int i) { return i < place ? 0.0 : 6.0; }, seed);
    bool always = true;
    for (std::int64_t count = place + 3; count <= place + 23; ++count) always = always && reported(series, count, place);
    confirmed += always ? 1 : 0;
  }
  return confirmed;
}

TEST(Changes, AStepOfSixDeviationsIsReportedWithItsThirdValueAndStays) { EXPECT_GE(confirmed_steps(57), 93); }
TEST(Changes, AStepOfSixDeviationsIsReportedAfterTwentyValues) { EXPECT_GE(confirmed_steps(20), 93); }

// Every change of a prefix is in the next longer one, unless the values came back to the level before it.
void expect_lasting_changes(std::vector<double> series, std::size_t most, std::string_view what) {
  series.resize(std::min(series.size(), most));
  std::vector<ChangePoint> before;
  for (std::size_t count = 6; count <= series.size(); ++count) {
    const std::vector<double> prefix(series.begin(), series.begin() + static_cast<std::ptrdiff_t>(count));
    auto found = find_changes(prefix);
    for (const ChangePoint& change : before) {
      const bool stays = std::any_of(found.begin(), found.end(),
                                     [&](const ChangePoint& one) { return std::abs(one.index - change.index) <= 2; });
      EXPECT_TRUE(stays || testing::is_reversed(prefix, change.index, change.shape == ChangeShape::bend))
          << what << ": " << change.index << " with " << count;
    }
    before = std::move(found);
  }
}

TEST(Changes, WhatAPrefixHasALongerOneHas) {
  for (int family : {0, 1, 2, 3, 6, 7, 9, 18})
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      const auto made = testing::make_series(family, seed);
      expect_lasting_changes(made.values, 120, made.family);
    }
}

TEST(Changes, WhatAPrefixOfACycleHasALongerOneHas) {
  for (int family : {12, 13, 14})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto made = testing::make_series(family, seed);
      expect_lasting_changes(made.values, 220, made.family);
    }
}

TEST(Changes, AWeeklyCycleOfADayOrMoreIsKnownFromItsFifthWeek) {
  for (const int low : {1, 2, 3}) {
    const auto series = series_of(90, [low](int i) { return i % 7 < low ? 0.0 : 8.0; });
    for (std::size_t count = 36; count <= series.size(); ++count)
      EXPECT_TRUE(places({series.begin(), series.begin() + static_cast<std::ptrdiff_t>(count)}).empty()) << low << ' ' << count;
  }
}

TEST(Changes, StairsOfLikeStepsAreStepsAndNoCycle) {
  for (const int length : {16, 20, 83}) {
    const auto series = series_of(9 * length, [length](int i) { return i / length * 6.0; });
    for (std::int64_t step = 1; step < 9; ++step)
      for (std::int64_t count = step * length + 8; count <= 9 * length; count += length)
        EXPECT_TRUE(reported(series, count, step * length)) << length << ' ' << step << ' ' << count;
  }
}

TEST(Changes, AStepBeforeACycleIsKnownStays) {
  const auto series = series_of(200, [](int i) { return (i % 7 < 5 ? 4.0 : 0.0) + (i < 16 ? 0 : 25); });
  for (const std::int64_t count : {20, 27, 28, 35, 60, 100, 200}) EXPECT_TRUE(reported(series, count, 16)) << count;
}

// A benchmark that drops early and later climbs far above where it was.
double climbing(int i) {
  if (i < 15) return 26'700;
  if (i < 61) return 23'650;
  if (i < 71) return 24'450;
  return i < 95 ? 28'350 : 27'300 + 8.0 * (i - 95);
}

TEST(Changes, AnEarlyDropIsNotForgotten) {
  const std::vector<double> series = series_of(365, [](int i) { return climbing(i) / 200; });  // deviation 200
  for (const std::int64_t count : {18, 40, 72, 100, 200, 300, 365}) EXPECT_TRUE(reported(series, count, 15)) << count;
}

TEST(Changes, SlopesAndCurvesAreNotCutIntoSteps) {
  EXPECT_TRUE(places(series_of(300, [](int i) { return 0.1 * i; })).empty());
  EXPECT_TRUE(places(series_of(300, [](int i) { return 0.001 * i * i; })).empty());
  EXPECT_LE(places(series_of(800, [](int i) { return 50 * std::exp(0.003 * i); })).size(), 2U);
}

TEST(Changes, SeasonsAreNotCutIntoSteps) {
  EXPECT_TRUE(places(series_of(240, [](int i) { return 6 * std::sin(i * 0.5236); })).empty());  // 12 values
  EXPECT_TRUE(places(series_of(210, [](int i) { return i % 7 < 5 ? 8.0 : 0.0; })).empty());     // weekends
  EXPECT_TRUE(places(series_of(480, [](int i) { return (1 + 0.002 * i) * 5 * std::sin(i * 0.2618); })).empty());
}

TEST(Changes, AStepInASeasonIsFound) {
  const Places found = places(series_of(240, [](int i) { return 5 * std::sin(i * 0.5236) + (i < 130 ? 0 : 12); }));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(static_cast<double>(found[0]), 130, 2);
}

TEST(Changes, ABendIsFoundAsOne) {
  const auto changes = find_changes(series_of(200, [](int i) { return i < 100 ? 0 : 0.4 * (i - 100); }));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].shape, ChangeShape::bend);
  EXPECT_NEAR(static_cast<double>(changes[0].index), 100, 6);
  EXPECT_EQ(changes[0].before, changes[0].after);
  EXPECT_LT(changes[0].p_value, 1e-3);
}

TEST(Changes, AStepOnASlopeHasItsHeight) {
  const auto changes = find_changes(series_of(200, [](int i) { return 0.2 * i + (i < 120 ? 0 : 10); }));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].shape, ChangeShape::step);
  EXPECT_NEAR(static_cast<double>(changes[0].index), 120, 1);
  EXPECT_NEAR(changes[0].after - changes[0].before, 10, 1.5);
}

TEST(Changes, ShortHistories) {
  EXPECT_EQ(places({3.1, 3.0, 3.05, 2.98, 3.07, 2.1, 2.05, 2.12, 2.07, 2.1}), (Places{5}));
  EXPECT_EQ(places({7, 7, 7, 7, 7, 7, 11, 11, 11, 11, 11, 11, 11}), (Places{6}));
  EXPECT_EQ(places({1.2, 0.4, -0.8, 0.9, 0.1, 80.3, 79.1, 81.2, 140.5, 139.2, 141.1, 140.2}), (Places{5, 8}));
}

TEST(Changes, AnExcursionThatIsReversedIsTakenBack) {
  std::vector<double> series = series_of(100, flat);
  for (std::size_t i = 40; i < 43; ++i) series[i] += 15;
  EXPECT_TRUE(reported(series, 43, 40));
  EXPECT_TRUE(places(series).empty());
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
