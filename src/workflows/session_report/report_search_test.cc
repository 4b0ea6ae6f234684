#include "workflows/session_report/report_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using core::Json;

Json document(const char* objective = "latency") {
  return Json(*Json::parse(R"({"proven": true, "summary": "s", "baseline": {"warm_median_ns": 10, "batch": 1},
    "proof": {"configuration": "arena=off threads=2", "change_ratio": -0.1, "interval": {"low": -0.12, "high": -0.08}},
    "parts": [{"change": "arena=off", "without_ratio": 0.01}],
    "trials": [{"values": {"arena": "off"}, "outcome": "ok", "log_effect": 0.1, "median_ns": 11, "items_per_second": 5},
               {"values": {"threads": "9"}, "outcome": "failed", "reason": "too many"},
               {"values": {"precision": "int8"}, "outcome": "tolerance", "log_effect": -0.5, "agreement": {"max_error_ratio": 0.2}},
               {"values": {"arena": "off", "threads": "2"}, "outcome": "ok", "log_effect": -0.1, "median_ns": 9}]})"))
      .set("for", objective);
}

TEST(ReportSearch, BaselineIsFirstThenTheFastestThenWhatIsOut) {
  const auto found = search_section(document());
  ASSERT_EQ(found.trials.size(), 5U);
  EXPECT_EQ(found.trials[0].outcome, "baseline");
  EXPECT_EQ(found.trials[1].label, "arena=off threads=2");
  EXPECT_EQ(found.trials[1].outcome, "winner");
  EXPECT_NEAR(*found.trials[1].change_ratio, -0.095, 0.001);
  EXPECT_EQ(found.trials[3].outcome, "tolerance");
  EXPECT_EQ(found.trials[3].output_error_ratio, 0.2);
  EXPECT_EQ(found.trials[4].reason, "too many");
}
TEST(ReportSearch, ThroughputIsBestWhereItRises) {
  const auto found = search_section(document("throughput"));
  EXPECT_EQ(found.trials[1].label, "arena=off threads=2");
  EXPECT_NEAR(*found.trials[1].change_ratio, 0.105, 0.001);
}
TEST(ReportSearch, ProofAndPartsAreKept) {
  const auto found = search_section(document());
  EXPECT_EQ(found.proof->low, -0.12);
  EXPECT_EQ(found.parts[0].change, "arena=off");
}
TEST(ReportSearch, UnmeasuredStaysEmpty) { EXPECT_FALSE(search_section(document()).trials[4].median_ns); }
TEST(ReportSearch, EmptyDocumentHasNoTrials) { EXPECT_TRUE(search_section(Json()).trials.empty()); }
TEST(ReportSearch, ProofWithoutAChangeIsLeftOut) {
  EXPECT_FALSE(search_section(Json::object({{"proof", Json::object({{"verdict", "inconclusive"}})}})).proof);
}

}  // namespace
}  // namespace aaco::workflows
