#include "analytics/trend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/random.h"

namespace aaco::analytics::trend {
namespace {

using ::testing::HasSubstr;

constexpr double kNsPerDay = 86'400e9;

// Values around what `level` says of each observation, with this much noise; one a day.
template <class Level>
std::vector<Observation> made(std::size_t count, double noise, Level&& level, std::uint64_t seed = 7) {
  core::Random random(seed);
  std::vector<Observation> series;
  for (std::size_t i = 0; i < count; ++i)
    series.push_back(
        {level(i) * std::exp(noise * random.normal()), static_cast<std::int64_t>(static_cast<double>(i) * kNsPerDay)});
  return series;
}

Trend analyzed(const std::vector<Observation>& series, const Options& options = {}) {
  const auto trend = analyze(series, options);
  if (!trend) throw std::runtime_error(trend.error().text());
  return *trend;
}
Options lower() {
  Options options;
  options.lower_is_better = true;
  return options;
}

TEST(Trend, AStepUpIsARegression) {
  const Trend trend = analyzed(made(60, 0.01, [](std::size_t i) { return i < 40 ? 100.0 : 105.0; }), lower());
  ASSERT_EQ(trend.steps.size(), 1U);
  EXPECT_NEAR(*trend.steps[0].delta_ratio, 0.05, 0.01);
  EXPECT_EQ(trend.steps[0].index, 40U);
  EXPECT_EQ(trend.steps[0].meaning, Meaning::regression);
  EXPECT_TRUE(trend.steps[0].alarm);
  EXPECT_TRUE(trend.steps[0].bayes_agrees);
  EXPECT_EQ(trend.alarms.size(), 1U);
}
TEST(Trend, AStepUpOfThroughputIsAnImprovement) {
  Options options;
  options.lower_is_better = false;
  EXPECT_EQ(analyzed(made(60, 0.01, [](std::size_t i) { return i < 40 ? 100.0 : 124.6; }), options).steps.at(0).meaning,
            Meaning::improvement);
}
TEST(Trend, NoAlarmOnStableSeries) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_TRUE(analyzed(made(
                             80, 0.02, [](std::size_t) { return 50.0; }, seed),
                         lower())
                    .alarms.empty())
        << seed;
}
TEST(Trend, SmallChangeIsFoundWithoutAlarm) {
  const Trend trend = analyzed(made(80, 0.0005, [](std::size_t i) { return i < 40 ? 100.0 : 100.7; }), lower());
  ASSERT_EQ(trend.steps.size(), 1U);
  EXPECT_FALSE(trend.steps[0].alarm);
  EXPECT_TRUE(trend.alarms.empty());
}
TEST(Trend, SlopeIsADrift) {
  const Trend trend = analyzed(made(120, 0.005, [](std::size_t i) { return 100 + 0.2 * static_cast<double>(i); }), lower());
  ASSERT_TRUE(trend.drift && trend.drift->significant);
  EXPECT_EQ(trend.stretch_start, 0U);
  EXPECT_NEAR(trend.drift->per_unit, 0.2, 0.02);
  EXPECT_EQ(trend.drift->meaning, Meaning::regression);
  for (const Step& step : trend.steps) EXPECT_FALSE(step.alarm);
}
TEST(Trend, DriftForecastsBudgetExceedance) {
  Options options = lower();
  options.limit = 130;
  const Trend trend = analyzed(made(100, 0.004, [](std::size_t i) { return 100 + 0.2 * static_cast<double>(i); }), options);
  ASSERT_TRUE(trend.breaks);
  EXPECT_TRUE(trend.in_days);
  EXPECT_NEAR(trend.breaks->in_units, (130 - 119.8) / 0.2, 6);
  EXPECT_LE(trend.breaks->earliest, trend.breaks->in_units);
  ASSERT_TRUE(trend.breaks->latest);
  EXPECT_GE(*trend.breaks->latest, trend.breaks->in_units);
  EXPECT_THAT(trend.alarms.back(), HasSubstr("the budget will be exceeded in"));
}
TEST(Trend, RelativeBudgetStartsAtSegmentStart) {
  Options options = lower();
  options.budget_ratio = 0.3;
  const Trend trend = analyzed(made(100, 0.004, [](std::size_t i) { return 100 + 0.2 * static_cast<double>(i); }), options);
  ASSERT_TRUE(trend.breaks);
  EXPECT_NEAR(trend.breaks->limit, 130, 1.5);
}
TEST(Trend, AnImprovingDriftBreaksNothing) {
  Options options = lower();
  options.limit = 130;
  EXPECT_FALSE(analyzed(made(100, 0.004, [](std::size_t i) { return 120 - 0.2 * static_cast<double>(i); }), options).breaks);
}
TEST(Trend, BudgetAlreadyExceeded) {
  Options options = lower();
  options.limit = 90;
  const Trend trend = analyzed(made(40, 0.004, [](std::size_t) { return 100.0; }), options);
  ASSERT_TRUE(trend.breaks);
  EXPECT_EQ(trend.breaks->in_units, 0);
  EXPECT_THAT(trend.alarms.back(), HasSubstr("already exceeded"));
}
TEST(Trend, ForecastCoversTheFuture) {
  int inside = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto series = made(
        91, 0.01, [](std::size_t i) { return 100 + 0.3 * static_cast<double>(i); }, seed);
    Options options = lower();
    options.horizon = 10;
    const Trend trend = analyzed({series.begin(), series.begin() + 81}, options);
    const double truth = series[90].value;
    inside += trend.forecast->interval.low <= truth && truth <= trend.forecast->interval.high ? 1 : 0;
  }
  EXPECT_GE(inside, 180);
}
TEST(Trend, OfPointsWithoutTimes) {
  auto series = made(60, 0.01, [](std::size_t) { return 10.0; });
  series[5].time_ns.reset();
  EXPECT_FALSE(analyzed(series).in_days);
}
TEST(Trend, OfPointsOutOfOrder) {
  auto series = made(60, 0.01, [](std::size_t) { return 10.0; });
  std::swap(series[5].time_ns, series[9].time_ns);
  EXPECT_FALSE(analyzed(series).in_days);
}
TEST(Trend, AConstantSeries) {
  const Trend trend = analyzed(made(50, 0, [](std::size_t) { return 3.0; }), lower());
  EXPECT_TRUE(trend.alarms.empty());
  EXPECT_EQ(trend.forecast->value, 3);
  EXPECT_EQ(trend.forecast->interval, (stats::Interval{3, 3}));
}
TEST(Trend, NegativeValuesHaveNoRatio) {
  const Trend trend = analyzed(made(60, 0, [](std::size_t i) {
    return i < 30 ? -10.0 + 0.01 * static_cast<double>(i % 3) : -5.0 + 0.01 * static_cast<double>(i % 3);
  }));
  ASSERT_EQ(trend.steps.size(), 1U);
  EXPECT_FALSE(trend.steps[0].delta_ratio);
  EXPECT_TRUE(trend.steps[0].alarm);
  EXPECT_THAT(trend.alarms.at(0), HasSubstr("from -"));
}
TEST(Trend, ABendIsADriftAndNoStep) {
  const Trend trend =
      analyzed(made(160, 0.004, [](std::size_t i) { return i < 80 ? 100.0 : 100 + 0.3 * static_cast<double>(i - 80); }), lower());
  EXPECT_TRUE(trend.steps.empty());
  EXPECT_NEAR(static_cast<double>(trend.stretch_start), 80, 10);
  ASSERT_TRUE(trend.drift && trend.drift->significant);
  EXPECT_NEAR(trend.drift->per_unit, 0.3, 0.05);
}
TEST(Trend, AnEarlyDropStaysAmongTheStepsHoweverMuchFollows) {
  for (const std::size_t count : {40U, 100U, 200U, 365U}) {
    const Trend trend =
        analyzed(made(count, 0.008, [](std::size_t i) { return i < 15   ? 267.0
                                                               : i < 71 ? 236.0
                                                                        : 290.0; }), lower());
    ASSERT_FALSE(trend.steps.empty()) << count;
    EXPECT_EQ(trend.steps[0].index, 15U) << count;
    EXPECT_NEAR(*trend.steps[0].delta_ratio, -0.115, 0.01) << count;
  }
}
TEST(Trend, ASeasonIsNeitherStepNorDrift) {
  const Trend trend = analyzed(made(210, 0.004, [](std::size_t i) { return i % 7 < 5 ? 100.0 : 95.0; }), lower());
  EXPECT_TRUE(trend.steps.empty());
  EXPECT_TRUE(trend.alarms.empty());
}
// Of 100 series, how many raise an alarm.
template <class Make>
int alarmed(Make&& make) {
  int count = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) count += analyzed(make(seed)).alarms.empty() ? 0 : 1;
  return count;
}

TEST(Trend, StepOfTheLastValuesIsNotADrift) {
  EXPECT_GE(alarmed([](std::uint64_t seed) {
              return made(
                  60, 0.02, [](std::size_t i) { return i < 55 ? 100.0 : 112.0; }, seed);
            }),
            98);
  const Trend trend = analyzed(made(60, 0.02, [](std::size_t i) { return i < 55 ? 100.0 : 112.0; }));
  EXPECT_NEAR(trend.level, 112, 3);
  EXPECT_FALSE(trend.drift && trend.drift->significant);
}
TEST(Trend, StepOfAShortSeriesIsNotADrift) {
  int drifts = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Trend trend = analyzed(made(
        12, 0.02, [](std::size_t i) { return i < 6 ? 100.0 : 112.0; }, seed));
    drifts += trend.drift && trend.drift->significant ? 1 : 0;
  }
  EXPECT_LE(drifts, 5);
}
TEST(Trend, CorrelatedNoiseRaisesNoAlarm) {
  const auto correlated = [](std::uint64_t seed) {
    core::Random random(seed);
    double state = random.normal();
    return made(30, 0, [&](std::size_t) {
      state = 0.8 * state + 0.6 * random.normal();
      return 100 + 2 * state;
    });
  };
  EXPECT_LE(alarmed(correlated), 10);
}
TEST(Trend, AlternatingLevelsYieldNoChange) {
  const auto two = [](std::uint64_t seed) {
    core::Random random(seed);
    return made(200, 0, [&](std::size_t) { return random.uniform() < 0.3 ? 110.0 : 100.0; });
  };
  EXPECT_LE(alarmed(two), 8);
}
TEST(Trend, GrowingScatterYieldsNoChange) {
  const auto growing = [](std::uint64_t seed) {
    core::Random random(seed);
    return made(200, 0, [&](std::size_t i) { return 100 + (i < 100 ? 1 : 4) * random.normal(); });
  };
  EXPECT_LE(alarmed(growing), 8);
  int changes = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) changes += analyzed(growing(seed)).steps.empty() ? 0 : 1;
  EXPECT_LE(changes, 12);
}

TEST(Trend, TooShort) {
  EXPECT_THAT(analyze(made(5, 0, [](std::size_t) { return 1.0; })).error().message, HasSubstr("too short"));
}
// A step by half among eight values is no alarm, and "no alarms" alone would deny it.
TEST(Trend, FewValuesTellNoStep) {
  const auto stepped = [](std::size_t count) {
    return analyzed(made(count, 0.01, [&](std::size_t i) { return i < count / 2 ? 10.0 : 15.0; }), lower());
  };
  for (const std::size_t count : {6U, 8U, 9U}) {
    EXPECT_FALSE(stepped(count).tells_steps) << count;
    EXPECT_FALSE(stepped(count).forecast) << count;
    EXPECT_TRUE(stepped(count).steps.empty()) << count;
  }
  EXPECT_TRUE(stepped(10).tells_steps);
  ASSERT_EQ(stepped(10).steps.size(), 1U);
  EXPECT_TRUE(stepped(10).forecast);
}
TEST(Trend, NotFinite) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    auto series = made(20, 0, [](std::size_t) { return 1.0; });
    series[3].value = bad;
    EXPECT_THAT(analyze(series).error().message, HasSubstr("index 3"));
  }
}

// 100 or 105 with noise of 1; the level flips with this probability per value.
std::vector<Observation> flipping(std::size_t count, double flip, std::uint64_t seed, double lasting = 0) {
  core::Random random(seed);
  std::vector<Observation> series;
  double state = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (random.uniform() < flip) state = 1 - state;
    const bool after = lasting != 0 && i >= count / 2;
    series.push_back({100 + 5 * state + (after ? lasting : 0) + random.normal(), std::nullopt});
  }
  return series;
}

TEST(Trend, FlipsBetweenTwoLevelsRaiseNoAlarm) {
  int alarms = 0, known = 0;
  constexpr int kSeries = 60;
  for (std::uint64_t seed = 0; seed < kSeries; ++seed) {
    const Trend trend = analyzed(flipping(seed % 2 == 0 ? 60 : 300, 0.2, seed));
    alarms += trend.alarms.empty() ? 0 : 1;
    known += trend.alternation ? 1 : 0;
  }
  EXPECT_LE(alarms, kSeries / 20);
  EXPECT_GE(known, kSeries / 2);
}
TEST(Trend, FlipsBetweenLevelsThatStayLongAreNoChange) {
  int changed = 0;
  constexpr int kSeries = 80;
  for (std::uint64_t seed = 0; seed < kSeries; ++seed) changed += analyzed(flipping(200, 0.1, 900 + seed)).steps.empty() ? 0 : 1;
  EXPECT_LE(changed, kSeries / 20);
}
TEST(Trend, AChangeBesideFlipsIsFound) {
  int found = 0;
  constexpr int kSeries = 20;
  for (std::uint64_t seed = 0; seed < kSeries; ++seed) {
    const Trend trend = analyzed(flipping(200, 0.2, 500 + seed, 15));
    found += std::any_of(trend.steps.begin(), trend.steps.end(),
                         [](const Step& step) { return step.index >= 97 && step.index <= 103; })
                 ? 1
                 : 0;
  }
  EXPECT_GE(found, kSeries - 2);
}
TEST(Trend, ASpikeNowAndThenHidesNoStep) {
  int found = 0, elsewhere = 0;
  constexpr int kSeries = 30;
  for (std::uint64_t seed = 0; seed < kSeries; ++seed) {
    core::Random random(700 + seed);
    std::vector<Observation> series;
    for (std::size_t i = 0; i < 200; ++i)
      series.push_back({100 + (i < 120 ? 0 : 6) + (random.uniform() < 0.04 ? 20 : 0) + random.normal(), std::nullopt});
    for (const Step& step : analyzed(series).steps) ++(step.index >= 117 && step.index <= 123 ? found : elsewhere);
  }
  EXPECT_GE(found, kSeries - 2);
  EXPECT_LE(elsewhere, 1);
}
TEST(Trend, StayingOnOneOfTheLevelsIsAChange) {
  auto series = flipping(100, 0.2, 3);
  core::Random random(4);
  for (int i = 0; i < 80; ++i) series.push_back({105 + random.normal(), std::nullopt});
  EXPECT_FALSE(analyzed(series).alarms.empty());
}
TEST(Trend, OneStepYieldsNoAlternation) {
  const Trend trend = analyzed(made(60, 0.01, [](std::size_t i) { return i < 40 ? 100.0 : 115.0; }));
  EXPECT_FALSE(trend.alternation);
  EXPECT_EQ(trend.steps.size(), 1U);
}
TEST(Trend, ARevertedRegressionDoesNotFailTheCheck) {
  const auto level = [](std::size_t i) { return i >= 30 && i < 45 ? 108.0 : 100.0; };
  const Trend trend = analyzed(made(200, 0.01, level), lower());
  ASSERT_EQ(trend.steps.size(), 2U);
  EXPECT_EQ(trend.steps[0].reverted_at, 45U);
  EXPECT_FALSE(trend.worsened());
  EXPECT_THAT(trend.alarms.front(), HasSubstr("(reverted at index 45)"));
}
TEST(Trend, ALostImprovementAndHalfARepairAreFailures) {
  EXPECT_TRUE(analyzed(made(200, 0.01, [](std::size_t i) { return i >= 60 && i < 120 ? 90.0 : 100.0; }), lower()).worsened());
  EXPECT_TRUE(
      analyzed(made(200, 0.01, [](std::size_t i) { return i < 60    ? 100.0
                                                          : i < 120 ? 120.0
                                                                    : 110.0; }), lower()).worsened());
}

}  // namespace
}  // namespace aaco::analytics::trend
