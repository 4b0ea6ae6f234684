#include "stats/season.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "core/random.h"

namespace aaco::stats {
namespace {

std::vector<double> pattern(int count, double noise, const std::function<double(int)>& level) {
  core::Random random(3);
  std::vector<double> series;
  for (int i = 0; i < count; ++i) series.push_back(level(i) + noise * random.normal());
  return series;
}

double sine(double i, double period) { return std::sin(2 * std::numbers::pi * i / period); }

TEST(Season, FindsPeriods) {
  EXPECT_EQ(find_season(pattern(120, 0.3, [](int i) { return sine(i, 12); })), 12U);
  EXPECT_EQ(find_season(pattern(70, 0.3, [](int i) { return i % 7 < 5 ? 2.0 : 0.0; })), 7U);
  EXPECT_EQ(find_season(pattern(1500, 0.3, [](int i) { return sine(i, 168); })), 168U);
  EXPECT_EQ(find_season(pattern(200, 0.3, [](int i) { return 0.05 * i + sine(i, 20); })), 20U);
}

TEST(Season, IsFoundEarly) {
  EXPECT_EQ(find_season(pattern(35, 0.3, [](int i) { return i % 7 < 5 ? 6.0 : 0.0; })), 7U);
  EXPECT_EQ(find_season(pattern(100, 0.3, [](int i) { return sine(i, 24); })), 24U);
}

TEST(Season, APeriodThatIsNotYetKnownIsNotMistakenForAShorterOne) {
  const auto series = pattern(400, 0.2, [](int i) { return 3 * sine(i, 48); });
  for (std::size_t count = 28; count <= series.size(); count += 3) {
    const std::size_t found = find_season({series.data(), count});
    EXPECT_TRUE(found == 0 || (found >= 47 && found <= 49)) << count << ": " << found;
  }
}

TEST(Season, AKnownPeriodStaysUntilItsPatternFades) {
  const auto close = pattern(120, 0.3, [](int i) { return sine(i, 12); });
  EXPECT_EQ(find_season(close, 13), 12U);  // clearly stronger
  EXPECT_EQ(find_season(pattern(60, 0.4, [](int i) { return sine(i, 12); }), 12), 12U);
  EXPECT_EQ(find_season(pattern(200, 1, [](int) { return 0.0; }), 12), 0U);
}

TEST(Season, IsTakenOff) {
  const auto series = pattern(240, 0, [](int i) { return 100 + 5 * sine(i, 24); });
  const SeasonFilter filter(series, 24);
  for (const double value : filter.all_before(240)) EXPECT_NEAR(value, 100, 0.1);
  for (std::size_t i = 48; i < 240; ++i) EXPECT_NEAR(filter.ahead(i), 100, 0.1);
}

TEST(Season, AGrowingPatternIsTakenOff) {
  const auto series = pattern(240, 0, [](int i) { return (1 + 0.01 * i) * 5 * sine(i, 24); });
  const SeasonFilter filter(series, 24);
  for (std::size_t i = 96; i < 240; ++i) EXPECT_NEAR(filter.ahead(i), 0, 0.5);
}

TEST(Season, WhatIsForetoldDoesNotDependOnLaterValues) {
  auto series = pattern(240, 0.5, [](int i) { return 5 * sine(i, 24); });
  const double before = SeasonFilter(series, 24).ahead(150);
  for (std::size_t i = 151; i < series.size(); ++i) series[i] = 1000;
  EXPECT_EQ(SeasonFilter(series, 24).ahead(150), before);
}

TEST(Season, AStepStaysWhereItIs) {
  const auto series = pattern(240, 0, [](int i) { return 5 * sine(i, 24) + (i < 100 ? 0 : 30); });
  const SeasonFilter filter(series, 24);
  const auto less = filter.all_before(240);
  EXPECT_NEAR(less[101] - less[98], 30, 1);
  EXPECT_NEAR(filter.ahead(101) - filter.ahead(98), 30, 1);
}

TEST(Season, RejectsSeriesWithoutAPattern) {
  EXPECT_EQ(find_season({}), 0U);
  EXPECT_EQ(find_season(std::vector<double>(200, 4.0)), 0U);
  EXPECT_EQ(find_season(pattern(300, 1, [](int) { return 0.0; })), 0U);
  EXPECT_EQ(find_season(pattern(300, 1, [](int i) { return 0.5 * i; })), 0U);
  EXPECT_EQ(find_season(pattern(300, 1, [](int i) { return i < 150 ? 0.0 : 20.0; })), 0U);
}

TEST(Season, RejectsStaircases) {
  EXPECT_EQ(find_season(pattern(200, 1, [](int i) { return i / 16 * 6.0; })), 0U);
  EXPECT_EQ(find_season(pattern(300, 0.1, [](int i) { return i / 20 * -6.0; })), 0U);
  EXPECT_EQ(find_season(pattern(300, 0.3, [](int i) { return i / 40 * 10.0 + (i % 40 < 15 ? 0 : 6); })), 0U);
  EXPECT_EQ(find_season(pattern(300, 0.3, [](int i) { return 0.2 * i + (i % 12 < 4 ? 8 : 0); })), 12U) << "the values come back";
}

TEST(Season, RejectsFewPeriods) {
  EXPECT_EQ(find_season(pattern(27, 0.1, [](int i) { return sine(i, 6); })), 0U);
  EXPECT_EQ(find_season(pattern(79, 0.1, [](int i) { return sine(i, 20); })), 0U);
}

TEST(Season, RejectsAnUnusualLongPeriod) {
  EXPECT_EQ(find_season(pattern(2000, 0.3, [](int i) { return i / 39 % 2 * 5.0; })), 0U);
}

TEST(Season, ValuesWithoutAnEarlierPeriodStay) {
  const auto series = pattern(100, 1, [](int i) { return sine(i, 24); });
  const SeasonFilter filter(series, 24);
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(filter.ahead(i), series[i]);
}

}  // namespace
}  // namespace aaco::stats
