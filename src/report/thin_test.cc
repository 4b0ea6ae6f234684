#include "report/thin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace aaco::report {
namespace {

std::vector<IterationPoint> series(std::size_t count) {
  std::vector<IterationPoint> points;
  for (std::size_t i = 0; i < count; ++i)
    points.push_back({"measure", static_cast<std::int64_t>(i), static_cast<std::int64_t>(i) * 10,
                      100 + static_cast<std::int64_t>(i % 7), false, ""});
  return points;
}

bool has(const std::vector<IterationPoint>& points, std::int64_t iteration) {
  return std::any_of(points.begin(), points.end(), [=](const auto& point) { return point.iteration == iteration; });
}

TEST(ThinIterations, ShortSeriesStays) { EXPECT_EQ(thin_iterations(series(10), 10).size(), 10U); }
TEST(ThinIterations, KeepsToTheLimit) { EXPECT_LE(thin_iterations(series(10'000), 1'000).size(), 1'002U); }
TEST(ThinIterations, Nothing) { EXPECT_TRUE(thin_iterations({}, 0).empty()); }
TEST(ThinIterations, KeepsTheSlowest) {
  auto points = series(10'000);
  points[4321].duration_ns = 9'999;
  EXPECT_TRUE(has(thin_iterations(points, 100), 4321));
}
TEST(ThinIterations, KeepsTheFastest) {
  auto points = series(10'000);
  points[4321].duration_ns = 1;
  EXPECT_TRUE(has(thin_iterations(points, 100), 4321));
}
TEST(ThinIterations, KeepsDisturbedOnes) {
  auto points = series(10'000);
  points[17].disturbance = "migration";
  EXPECT_TRUE(has(thin_iterations(points, 100), 17));
}
TEST(ThinIterations, ManyDisturbedOnesDoNotBreakTheLimit) {
  auto points = series(10'000);
  for (auto& point : points) point.disturbance = "noise";
  EXPECT_LE(thin_iterations(points, 100).size(), 102U);
}
TEST(ThinIterations, KeepsTheFirstOfEachPhase) {
  auto points = series(10'000);
  for (std::size_t i = 5'003; i < points.size(); ++i) points[i].phase = "profile";
  EXPECT_TRUE(has(thin_iterations(points, 100), 5'003));
}

TEST(ThinSeries, KeepsExtremesAndGaps) {
  Series one{"m", "", "ratio", {}, {}};
  for (int i = 0; i < 1'000; ++i) {
    one.time_ns.push_back(i);
    one.value.push_back(i == 500 ? 9.0 : i == 700 ? std::numeric_limits<double>::quiet_NaN() : 1.0);
  }
  const Series thin = thin_series(one, 20);
  EXPECT_LE(thin.value.size(), 22U);
  EXPECT_TRUE(std::any_of(thin.value.begin(), thin.value.end(), [](double value) { return value == 9.0; }));
  EXPECT_TRUE(std::any_of(thin.value.begin(), thin.value.end(), [](double value) { return value != value; }));
}
TEST(ThinSeries, UnequalColumnsAreCutToTheShorter) {
  Series one{"m", "", "", std::vector<std::int64_t>(100, 1), std::vector<double>(50, 1)};
  EXPECT_LE(thin_series(one, 10).time_ns.size(), 12U);
}

TEST(ThinTimeline, KeepsTheLongestInOrder) {
  std::vector<TimelineSpan> spans;
  for (int i = 0; i < 100; ++i) spans.push_back({"t", std::to_string(i), "", i, i == 3 || i == 90 ? 50 : 1});
  const auto thin = thin_timeline(spans, 2);
  ASSERT_EQ(thin.size(), 2U);
  EXPECT_EQ(thin[0].name, "3");
  EXPECT_EQ(thin[1].name, "90");
}

TEST(CountsBeforeThinning, NothingThinned) { EXPECT_TRUE(counts_before_thinning({}).is_null()); }
TEST(CountsBeforeThinning, SaysHowManyThereWere) {
  ReportModel model;
  model.iterations = series(kPageIterations + 5);
  EXPECT_EQ(counts_before_thinning(model)["iterations"].as_i64(), static_cast<std::int64_t>(kPageIterations + 5));
}

}  // namespace
}  // namespace aaco::report
