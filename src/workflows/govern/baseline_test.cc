#include "workflows/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/clock.h"
#include "tests/support/made_session.h"

namespace aaco::workflows {
namespace {

using testing::HasSubstr;

class BaselineTest : public testing::Test {
 protected:
  BaselineTest() {
    request_.name = "net";
    request_.owner = " perf ";
    request_.sessions = {"latest"};
  }
  std::string session(const char* batch = "1", bool interrupted = false) {
    MadeSession made;
    made.calls_ns.assign(50, 1e6);
    made.facts = {{"batch", batch}};
    made.metrics = {{"memory.rss_peak_bytes", 1e9, "bytes", {}, {}}};
    made.interrupted = interrupted;
    return lake_.make(made).manifest.id.text;
  }
  governance::Baseline added() {
    const auto path = add_baseline(request_, lake_.services);
    EXPECT_TRUE(path) << path.error().text();
    return path ? load_baseline(*path).value() : governance::Baseline();
  }
  std::string refusal() {
    const auto path = add_baseline(request_, lake_.services);
    return path ? "accepted" : path.error().text();
  }
  Lake lake_;
  BaselineRequest request_;
};

TEST_F(BaselineTest, TheFirstMetricDecidesAndBudgetsAreKept) {
  session();
  request_.metrics = {"memory=50%", "p50"};
  request_.loss_ratio = 0.07;
  request_.lifetime_ns = 1'000'000'000;
  const auto baseline = added();
  EXPECT_EQ(baseline.owner, "perf");
  EXPECT_EQ(baseline.decides, "memory.rss_peak_bytes");
  EXPECT_EQ(baseline.budgets.at("memory.rss_peak_bytes"), (governance::Budget{0.5, true}));
  EXPECT_EQ(baseline.budgets.at("latency.p50_ns"), (governance::Budget{0.07, true}));
  EXPECT_EQ(baseline.expires_realtime_ns, baseline.created_realtime_ns + 1'000'000'000);
  EXPECT_FALSE(baseline.approval);
  EXPECT_EQ(baseline.sessions.at(0).iterations_ns.size(), 50U);
}
TEST_F(BaselineTest, WithoutMetricsThoseThatWereMeasuredAreTaken) {
  session();
  const auto baseline = added();
  EXPECT_EQ(baseline.decides, "latency.p50_ns");
  EXPECT_TRUE(baseline.budgets.contains("memory.rss_peak_bytes"));
  EXPECT_FALSE(baseline.expires_realtime_ns);
}
TEST_F(BaselineTest, RefusesAnExistingNameUnlessItIsReplaced) {
  session();
  EXPECT_EQ(refusal(), "accepted");
  EXPECT_THAT(refusal(), HasSubstr("--replace"));
  request_.replace = true;
  EXPECT_EQ(refusal(), "accepted");
}
TEST_F(BaselineTest, RefusesInvalidNamesAndMissingOwners) {
  session();
  request_.name = "../net";
  EXPECT_THAT(refusal(), HasSubstr("not a valid baseline name"));
  request_.name = "net";
  request_.owner = "  ";
  EXPECT_THAT(refusal(), HasSubstr("a baseline needs an owner"));
}
TEST_F(BaselineTest, RefusesInterruptedSessions) {
  session("1", true);
  EXPECT_THAT(refusal(), HasSubstr("stopped early (interrupted)"));
}
TEST_F(BaselineTest, RefusesSessionsOfDifferentThings) {
  request_.sessions = {session("1"), session("8")};
  EXPECT_THAT(refusal(), HasSubstr("must be comparable"));
  request_.sessions = {session("8"), session("8")};
  EXPECT_EQ(refusal(), "accepted");
}
TEST_F(BaselineTest, RefusesMetricsThatWereNotMeasured) {
  session();
  request_.metrics = {"p50", "gpu.busy_ns"};
  EXPECT_THAT(refusal(), HasSubstr("gpu.busy_ns"));
}
TEST_F(BaselineTest, RefusesBudgetsThatAreNoShare) {
  session();
  for (const char* metric : {"p50=0", "p50=100%", "p50=-5%", "p50=lots", "p50="}) {
    request_.metrics = {metric};
    EXPECT_THAT(refusal(), HasSubstr("invalid budget")) << metric;
  }
  request_.metrics = {"p50=99%"};
  EXPECT_EQ(refusal(), "accepted");
}
TEST_F(BaselineTest, RefusesUnknownSessions) {
  request_.sessions = {"tag:nosuch"};
  EXPECT_THAT(refusal(), HasSubstr("no complete session with tag nosuch"));
}

TEST_F(BaselineTest, AnApprovalIsOfTheContentAndNamesAPerson) {
  session();
  const auto path = add_baseline(request_, lake_.services).value();
  EXPECT_FALSE(approve_baseline(path, " "));
  EXPECT_FALSE(load_baseline(path)->approval);
  ASSERT_TRUE(approve_baseline(path, " ada "));
  auto baseline = load_baseline(path).value();
  EXPECT_EQ(baseline.approval->by, "ada");
  EXPECT_EQ(to_json(baseline, 0)["approval"].text(), "approved");
  baseline.budgets.begin()->second.loss_ratio = 0.5;
  EXPECT_EQ(to_json(baseline, 0)["approval"].text(), "changed_since");
  baseline.approval.reset();
  EXPECT_EQ(to_json(baseline, 0)["approval"].text(), "none");
  EXPECT_FALSE(approve_baseline(lake_.in("missing.yaml"), "ada"));
}
TEST_F(BaselineTest, ExpiryIsOfTheTimeGiven) {
  session();
  request_.lifetime_ns = 1'000'000'000;
  const auto baseline = added();
  EXPECT_EQ(to_json(baseline, baseline.created_realtime_ns)["expired"].as_bool(), false);
  EXPECT_EQ(to_json(baseline, baseline.created_realtime_ns + 2'000'000'000)["expired"].as_bool(), true);
}
TEST_F(BaselineTest, IsFoundByNameAndByFile) {
  session();
  const auto path = add_baseline(request_, lake_.services).value();
  EXPECT_EQ(find_baseline("net", lake_.services).value(), path);
  EXPECT_EQ(find_baseline(path, lake_.services).value(), path);
  EXPECT_THAT(find_baseline("nett", lake_.services).error().remedy, HasSubstr("did you mean net?"));
  EXPECT_FALSE(find_baseline("../net", lake_.services));
}
TEST_F(BaselineTest, ListShowsDamagedFilesAsErrors) {
  EXPECT_TRUE(list_baselines(lake_.services)->empty()) << "no folder";
  session();
  added();
  lake_.file("baselines/bad.yaml", "schema_version: 1\nname: bad\n");
  lake_.file("baselines/notes.txt", "not a baseline");
  const auto entries = list_baselines(lake_.services).value();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_FALSE(entries[0].baseline);
  EXPECT_TRUE(entries[1].baseline);
}

}  // namespace
}  // namespace aaco::workflows
