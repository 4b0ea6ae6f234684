#include "workflows/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "tests/support/made_session.h"
#include "workflows/history_json.h"

namespace aaco::workflows {
namespace {

using core::Json;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kDay = 86'400'000'000'000, kFirst = 1'700'000'000'000'000'000;

std::vector<double> step(double before, double after, int each = 20) {
  core::Random random(3);
  std::vector<double> values;
  for (int i = 0; i < 2 * each; ++i) values.push_back((i < each ? before : after) * (1 + 0.003 * random.normal()));
  return values;
}

class HistoryTest : public testing::Test {
 protected:
  void file(const std::vector<double>& values, const char* column = "latency_ms") {
    std::string text = std::string("time,") + column + "\n";
    for (std::size_t i = 0; i < values.size(); ++i)
      text += std::to_string(1'700'000'000 + 86'400 * i) + "," + std::to_string(values[i]) + "\n";
    request_.files = {lake_.file("table.csv", text)};
  }
  void session(double p50_ns, int day, const char* batch = "1", const char* kind = "run", bool interrupted = false) {
    MadeSession made;
    made.interrupted = interrupted;
    made.kind = kind;
    made.created_ns = kFirst + day * kDay;
    made.facts = {{"batch", batch}};
    made.outcome = Json::object({{"model", "net"}, {"backend", "cpu"}});
    made.metrics = {{"latency.p50_ns", p50_ns, "ns", {}, {}}};
    lake_.make(made);
  }
  HistoryOutcome made() {
    auto outcome = history(request_, lake_.services);
    EXPECT_TRUE(outcome) << outcome.error().text();
    return outcome ? *std::move(outcome) : HistoryOutcome();
  }
  std::string refusal() {
    const auto outcome = history(request_, lake_.services);
    return outcome ? "accepted" : outcome.error().text();
  }
  Lake lake_;
  HistoryRequest request_;
};

TEST_F(HistoryTest, ARegressionAlarmsAndWorsens) {
  file(step(100, 130));
  const auto outcome = made();
  EXPECT_TRUE(outcome.alarmed());
  EXPECT_TRUE(outcome.worsened());
  EXPECT_EQ(to_json(outcome, request_)["worsened"].as_bool(), true);
}
TEST_F(HistoryTest, AnImprovementAlarmsAndDoesNotWorsen) {
  file(step(130, 100));
  const auto outcome = made();
  EXPECT_TRUE(outcome.alarmed());
  EXPECT_FALSE(outcome.worsened());
}
TEST_F(HistoryTest, ALevelSeriesRaisesNoAlarm) {
  file(step(100, 100));
  const auto outcome = made();
  EXPECT_FALSE(outcome.alarmed());
  EXPECT_FALSE(outcome.worsened());
}
TEST_F(HistoryTest, TheDirectionFollowsFromTheName) {
  file(step(100, 130), "throughput");
  EXPECT_FALSE(made().worsened());
  file(step(130, 100), "throughput");
  EXPECT_TRUE(made().worsened());
}
TEST_F(HistoryTest, TheDirectionAskedForHasPrecedence) {
  file(step(100, 130));
  request_.lower_is_better = false;
  EXPECT_FALSE(made().worsened());
}
TEST_F(HistoryTest, AChangeInUnknownDirectionMayBeADegradation) {
  file(step(130, 100), "score");
  EXPECT_FALSE(made().series[0].lower_is_better);
  EXPECT_TRUE(made().worsened());
}
TEST_F(HistoryTest, OnlyTheNewestPointsAreAnalyzed) {
  file(step(100, 130));
  request_.last = 20;
  EXPECT_EQ(made().series[0].points.size(), 20U);
  EXPECT_FALSE(made().alarmed());
}
TEST_F(HistoryTest, FewerThanSixPointsAreNotAnalyzed) {
  file({100, 100, 100, 130, 130});
  const auto few = made();
  EXPECT_FALSE(few.alarmed());
  EXPECT_EQ(few.series[0].reason, "need at least 6 values, have 5");
  file({100, 100, 100, 100, 100, 100});
  EXPECT_EQ(made().series[0].reason, "6 values cannot tell a step from chance: at least 10 are needed");
  file({100, 100, 100, 100, 100, 100, 100, 100, 100, 100});
  EXPECT_TRUE(made().series[0].reason.empty());
}
TEST_F(HistoryTest, PointsAreInOrderOfTime) {
  request_.files = {lake_.file("b.csv", "time,latency_ms\n1700086400,2\n"),
                    lake_.file("a.csv", "time,latency_ms\n1700000000,1\n")};
  const auto points = made().series.at(0).points;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].value, 1);
}

TEST_F(HistoryTest, SessionsOfOneFingerprintAreOneSeries) {
  request_.metric = "p50";
  for (int i = 0; i < 6; ++i) session(1e6, i);
  session(5e6, 6, "8");
  const auto outcome = made();
  ASSERT_EQ(outcome.series.size(), 2U);
  EXPECT_EQ(outcome.series[0].points.size(), 6U);
  EXPECT_EQ(outcome.series[0].lower_is_better, true);
  EXPECT_THAT(outcome.series[0].of, HasSubstr("net on cpu"));
  EXPECT_EQ(outcome.series[1].points.size(), 1U);
  EXPECT_EQ(outcome.notes.size(), 1U);
  EXPECT_FALSE(outcome.alarmed());
}
TEST_F(HistoryTest, SessionsWithoutTheMetricAreCountedAsDropped) {
  request_.metric = "p50";
  session(1e6, 0);
  session(1e6, 1, "1", "sweep");
  lake_.make({});
  { const auto open = SessionDraft::begin("run", "", {}, lake_.services); }
  const auto outcome = made();
  EXPECT_EQ(outcome.account.kept, 1);
  EXPECT_EQ(outcome.account.dropped.at("metric not measured"), 1);
  EXPECT_EQ(outcome.account.dropped.at("session is incomplete"), 1);
}

// What was stopped early is shown, and not compared with whole runs.
TEST_F(HistoryTest, InterruptedSessionsAreNoPartOfTheTrend) {
  request_.metric = "p50";
  for (int i = 0; i < 12; ++i) session(1e6, i);
  for (int i = 12; i < 24; ++i) session(5e6, i, "1", "run", true);
  const auto outcome = made();
  ASSERT_EQ(outcome.series.size(), 1U);
  EXPECT_FALSE(outcome.alarmed());
  EXPECT_EQ(outcome.series[0].points.size(), 12U);
  ASSERT_EQ(outcome.series[0].interrupted.size(), 12U);
  EXPECT_EQ(outcome.series[0].interrupted[0].value, 5e6);
  EXPECT_EQ(outcome.account.kept, 12);
  EXPECT_EQ(outcome.account.dropped.at("session was interrupted"), 12);
  const Json document = to_json(outcome, request_);
  EXPECT_EQ(document["series"].items()[0]["interrupted"].items().size(), 12U);
  EXPECT_EQ(document["series"].items()[0]["count"].as_i64(), 12);
}
TEST_F(HistoryTest, OnlyInterruptedSessionsTellNothing) {
  request_.metric = "p50";
  for (int i = 0; i < 12; ++i) session(i < 6 ? 1e6 : 5e6, i, "1", "run", true);
  const auto outcome = made();
  ASSERT_EQ(outcome.series.size(), 1U);
  EXPECT_TRUE(outcome.series[0].points.empty());
  EXPECT_FALSE(outcome.alarmed());
  EXPECT_EQ(outcome.series[0].reason, "need at least 6 values, have 0");
}

TEST_F(HistoryTest, RefusesALimitForAnUnknownDirection) {
  file(step(100, 130), "score");
  request_.options.limit = 110;
  EXPECT_THAT(refusal(), HasSubstr("direction of score is unknown"));
  request_.lower_is_better = true;
  EXPECT_EQ(refusal(), "accepted");
}
TEST_F(HistoryTest, RefusesUnknownSeriesNamingTheNearest) {
  file(step(100, 130));
  request_.metric = "latency_ns";
  EXPECT_THAT(refusal(), HasSubstr("did you mean latency_ms?"));
  request_.metric = "latency*";
  EXPECT_EQ(refusal(), "accepted");
}
TEST_F(HistoryTest, RefusesMissingFilesAndNoMetric) {
  EXPECT_THAT(refusal(), HasSubstr("no metric given"));
  request_.files = {lake_.in("missing.csv")};
  EXPECT_THAT(refusal(), HasSubstr("missing.csv"));
}
TEST_F(HistoryTest, RefusesALakeWithoutTheMetric) {
  session(1e6, 0);
  request_.metric = "gpu.busy_ns";
  EXPECT_THAT(refusal(), HasSubstr("has the metric gpu.busy_ns"));
  request_.metric = "p50";
  request_.where = {{"model", "other"}};
  EXPECT_THAT(refusal(), HasSubstr("with model=other"));
  request_.where = {{"branch", "main"}};
  EXPECT_THAT(refusal(), HasSubstr("--from"));
}
TEST_F(HistoryTest, RefusesAnUnknownMetricNamingTheNearest) {
  session(1e6, 0);
  const std::pair<const char*, const char*> suggested[] = {{"latency.p50_nss", "did you mean latency.p50_ns?"},
                                                           {"p5O", "did you mean p50?"},
                                                           {"throughputs", "did you mean throughput?"},
                                                           {"median latency", "similar metrics: latency.p50_ns"},
                                                           {"gpu-busy", "gpu.busy_ns"}};
  for (const auto& [name, hint] : suggested) {
    request_.metric = name;
    EXPECT_THAT(refusal(), HasSubstr("has the metric"));
    EXPECT_THAT(refusal(), HasSubstr(hint)) << name;
  }
}
TEST_F(HistoryTest, RefusesAnUnknownMetricThatResemblesNone) {
  session(1e6, 0);
  for (const char* name : {"xyzzyxyzzyxyzzy", "...", "*"}) {
    request_.metric = name;
    EXPECT_THAT(refusal(), HasSubstr("aaco show SESSION")) << name;
    EXPECT_THAT(refusal(), Not(HasSubstr("similar"))) << name;
  }
}

}  // namespace
}  // namespace aaco::workflows
