#include <gmock/gmock.h>

#include "workflows/sweep.h"

namespace aaco::workflows {
namespace {

using ::testing::HasSubstr;

SweepPoint measured(std::int64_t batch, double latency_ns, double items_per_second) {
  SweepPoint point;
  point.request.model = "mlp";
  point.request.backend = "cpu";
  point.request.batch = batch;
  point.session_id = "s" + std::to_string(batch);
  point.metrics = {{"latency.p50_ns", latency_ns, "ns", {}, {}},
                   {"throughput.items_per_second", items_per_second, "1/s", {}, {}}};
  return point;
}

SweepOutcome outcome_of(std::vector<SweepPoint> points) {
  SweepOutcome outcome;
  outcome.asked = points.size();
  outcome.points = std::move(points);
  return outcome;
}

// Fixed cost a, cost b per item: the knee is where both are equal.
TEST(Knee, IsWhereTheFixedCostEqualsTheWork) {
  std::vector<report::PaperCurve::Point> points;
  for (const double batch : {1.0, 2.0, 4.0, 8.0, 16.0}) {
    const double latency = 4e6 + 1e6 * batch;
    points.push_back({"", batch / latency * 1e9, latency, {}, {}, {}});
  }
  EXPECT_EQ(knee_of(points), 2U);
}
TEST(Knee, OfTwoPointsIsUnknown) { EXPECT_FALSE(knee_of({{"", 1, 1, {}, {}, {}}, {"", 2, 1, {}, {}, {}}})); }
TEST(Knee, OfNoPointsIsUnknown) { EXPECT_FALSE(knee_of({})); }

TEST(SweepPaper, HasACurveForEachBackend) {
  auto points = std::vector{measured(1, 1e6, 1e3), measured(2, 1.2e6, 1.7e3), measured(4, 3e6, 1.3e3), measured(1, 2e6, 500)};
  points.back().request.backend = "migraphx";
  const auto paper = sweep_paper(outcome_of(points));
  ASSERT_EQ(paper.curves.size(), 2U);
  EXPECT_EQ(paper.curves[0].name, "cpu");
  EXPECT_EQ(paper.curves[0].knee, 1U);
  EXPECT_FALSE(paper.curves[1].knee);
  EXPECT_EQ(paper.title, "Sweep of mlp");
  EXPECT_THAT(report::paper_text(paper), HasSubstr("batch 2: 1.20 ms"));
}
TEST(SweepPaper, FailedPointsHaveTheirReason) {
  SweepPoint failed;
  failed.request.model = "mlp";
  failed.error = "out of memory";
  const auto paper = sweep_paper(outcome_of({failed, measured(1, 1e6, 1e3)}));
  EXPECT_EQ(paper.curves.size(), 1U);
  EXPECT_THAT(report::paper_text(paper), HasSubstr("out of memory"));
  EXPECT_THAT(report::paper_text(paper), HasSubstr("1 of 2 measured"));
}
TEST(SweepPaper, OfNothingHasNoCurve) { EXPECT_TRUE(sweep_paper({}).curves.empty()); }

}  // namespace
}  // namespace aaco::workflows
