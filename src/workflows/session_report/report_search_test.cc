#include "workflows/session_report/report_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using core::Json;

Json document() {
  return *Json::parse(R"({"for": "latency", "proven": true, "summary": "s", "baseline": {"warm_median_ns": 10, "batch": 1},
    "trials": [{"values": {"arena": "off"}, "outcome": "ok", "log_effect": 0.1, "median_ns": 11, "items_per_second": 5},
               {"values": {"threads": "9"}, "outcome": "failed", "reason": "too many"},
               {"values": {"arena": "off", "threads": "2"}, "outcome": "ok", "log_effect": -0.1, "median_ns": 9}]})");
}

TEST(ReportSearch, BaselineIsFirstThenTheFastest) {
  const auto found = search_points(document());
  ASSERT_EQ(found.points.size(), 4U);
  EXPECT_EQ(found.points[0].label, "baseline");
  EXPECT_EQ(found.points[1].label, "arena=off threads=2");
  EXPECT_NEAR(*found.points[1].relative_ratio, 1.105, 0.001);
  EXPECT_EQ(found.points[3].error, "failed: too many");
  EXPECT_EQ(found.summary.text, "s");
}
TEST(ReportSearch, UnmeasuredStaysEmpty) { EXPECT_FALSE(search_points(document()).points[3].median_ns); }
TEST(ReportSearch, EmptyDocumentHasNoPoints) { EXPECT_TRUE(search_points(Json()).points.empty()); }

}  // namespace
}  // namespace aaco::workflows
