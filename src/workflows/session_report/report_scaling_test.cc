#include "workflows/session_report/report_scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using ::testing::HasSubstr;

report::Scaling scaling(std::string_view points) {
  auto document = core::Json::parse(R"({"schema_version": 1, "points": [)" + std::string(points) + "]}");
  EXPECT_TRUE(document) << document.error().text();
  return scaling_of(*document).value_or(report::Scaling());
}

std::string point(int batch, double items, double half, std::string_view threads = "null") {
  return R"({"backend": "cpu", "batch": )" + std::to_string(batch) + R"(, "threads": )" + std::string(threads) +
         R"(, "dimensions": {}, "session_id": "s", "metrics": {"latency.p50_ns": {"value": )" +
         std::to_string(1e9 * batch / items) + R"(, "unit": "ns"}, "throughput.items_per_second": {"value": )" +
         std::to_string(items) + R"(, "unit": "1/s", "ci95": [)" + std::to_string(items - half) + "," +
         std::to_string(items + half) + "]}}}";
}

TEST(Scaling, PointsAreLabelledByTheSweptParameters) {
  const auto one = scaling(point(1, 100, 1) + "," + point(8, 400, 1));
  EXPECT_EQ(one.points[1].label, "batch 8");
  const auto two = scaling(point(1, 100, 1, "1") + "," + point(8, 400, 1, "2"));
  EXPECT_EQ(two.points[0].label, "batch 1, 1 thread");
  EXPECT_EQ(two.points[1].label, "batch 8, 2 threads");
}

TEST(Scaling, RelativeToTheFirstThatRan) {
  const auto rows = scaling(R"({"backend": "cuda", "batch": 1, "dimensions": {}, "error": "no such provider"},)" +
                            point(1, 100, 1) + "," + point(8, 450, 1))
                        .points;
  EXPECT_EQ(rows[0].error, "no such provider");
  EXPECT_FALSE(rows[0].relative_ratio);
  EXPECT_EQ(rows[1].relative_ratio, 1.0);
  EXPECT_EQ(rows[2].relative_ratio, 4.5);
}

TEST(Scaling, TheBestIsSureWhereNoIntervalReachesIt) {
  const auto summary = scaling(point(1, 100, 5) + "," + point(8, 400, 5)).summary;
  EXPECT_THAT(summary.text, HasSubstr("highest throughput with batch 8: 400 items/s; lowest latency with batch 1"));
  EXPECT_THAT(summary.confidence, HasSubstr("high"));
}

TEST(Scaling, OverlappingIntervalsAreSaid) {
  const auto summary = scaling(point(1, 390, 20) + "," + point(8, 400, 20) + "," + point(16, 100, 1)).summary;
  EXPECT_THAT(summary.confidence, HasSubstr("low: its interval overlaps with 1 other point"));
}

TEST(Scaling, AShortestCallThatAnotherMayMatchIsNotSure) {
  const auto timed = [](int batch, double items, double low, double high) {
    std::string text = point(batch, items, 1);
    const std::string median = R"("latency.p50_ns": {)";
    return text.insert(text.find(median) + median.size(),
                       R"("ci95": [)" + std::to_string(low) + "," + std::to_string(high) + "], ");
  };
  const auto near = scaling(timed(1, 100, 0.9e7, 1.1e7) + "," + timed(2, 180, 1e7, 1.2e7)).summary;
  EXPECT_THAT(near.confidence, HasSubstr("its latency interval overlaps with 1 other point"));
  const auto apart = scaling(timed(1, 100, 0.9e7, 1.1e7) + "," + timed(8, 400, 1.9e7, 2.1e7)).summary;
  EXPECT_THAT(apart.confidence, HasSubstr("high"));
}

TEST(Scaling, NothingIsSaidOfNothing) {
  EXPECT_FALSE(scaling_of(*core::Json::parse(R"({"points": []})")));
  EXPECT_FALSE(scaling_of(core::Json()));
  const auto failed = scaling(R"({"backend": "cpu", "batch": 1, "dimensions": {}, "error": "no"})");
  EXPECT_TRUE(failed.summary.text.empty());
}

}  // namespace
}  // namespace aaco::workflows
