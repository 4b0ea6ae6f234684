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

TEST(Season, IsTakenOff) {
  for (const double value : without_season(pattern(240, 0, [](int i) { return 100 + 5 * sine(i, 24); })))
    EXPECT_NEAR(value, 100, 0.1);
}

TEST(Season, AStepStaysWhereItIs) {
  const auto series = without_season(pattern(240, 0, [](int i) { return 5 * sine(i, 24) + (i < 100 ? 0 : 30); }));
  EXPECT_NEAR(series[101] - series[98], 30, 1);
}

TEST(Season, RejectsSeriesWithoutAPattern) {
  EXPECT_EQ(find_season({}), 0U);
  EXPECT_EQ(find_season(std::vector<double>(200, 4.0)), 0U);
  EXPECT_EQ(find_season(pattern(300, 1, [](int) { return 0.0; })), 0U);
  EXPECT_EQ(find_season(pattern(300, 1, [](int i) { return 0.5 * i; })), 0U);
  EXPECT_EQ(find_season(pattern(300, 1, [](int i) { return i < 150 ? 0.0 : 20.0; })), 0U);
}

TEST(Season, RejectsFewPeriods) {
  EXPECT_EQ(find_season(pattern(47, 0.1, [](int i) { return sine(i, 6); })), 0U);
  EXPECT_EQ(find_season(pattern(100, 0.1, [](int i) { return sine(i, 20); })), 0U);
}

TEST(Season, RejectsAnUnusualLongPeriod) {
  EXPECT_EQ(find_season(pattern(2000, 0.3, [](int i) { return i / 39 % 2 * 5.0; })), 0U);
}

TEST(Season, SeriesWithoutAPatternIsUnchanged) {
  const auto series = pattern(100, 1, [](int) { return 0.0; });
  EXPECT_EQ(without_season(series), series);
}

}  // namespace
}  // namespace aaco::stats
