#include "workflows/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "tests/support/source_dir.h"

namespace aaco::workflows {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kSessions = 4, kIterations = 100;

// Sessions of about `level_ns` that a baseline file tells of, without a path.
ComparedSide side(const std::string& name, double level_ns, const char* batch = "1") {
  ComparedSide side;
  side.name = name;
  for (int i = 0; i < kSessions; ++i) {
    ComparedSession& session = side.sessions.emplace_back();
    session.id = name + std::to_string(i);
    session.kind = "run";
    session.scope = "iteration";
    session.fingerprint = hardware::make_fingerprint({{"batch", batch}});
    session.fingerprint_hash = session.fingerprint.hash;
    core::Random random(static_cast<std::uint64_t>(i) + 1);
    for (int k = 0; k < kIterations; ++k) session.iterations.push_back(level_ns * std::exp(0.01 * random.normal()));
  }
  return side;
}

DiffOutcome compared(const ComparedSide& a, const ComparedSide& b, bool force = false) {
  Services services;
  services.paths.share = AACO_SOURCE_DIR;
  DiffRequest request;
  request.metrics.names = {"p50"};
  request.store = request.use_history = false;
  request.force = force;
  auto outcome = diff_sides(a, b, request, services);
  EXPECT_TRUE(outcome) << outcome.error().text();
  return outcome ? *std::move(outcome) : DiffOutcome();
}

TEST(Diff, SlowerFasterAndTheSame) {
  EXPECT_EQ(compared(side("a", 1e6), side("b", 1.3e6)).verdict, "regression");
  EXPECT_EQ(compared(side("a", 1e6), side("b", 0.7e6)).verdict, "improvement");
  EXPECT_EQ(compared(side("a", 1e6), side("b", 1e6)).verdict, "equivalent");
}

TEST(Diff, TheOutcomeStatesBothSides) {
  const DiffOutcome outcome = compared(side("a", 1e6), side("b", 1.3e6));
  EXPECT_THAT(outcome.baseline_ids, ElementsAre("a0", "a1", "a2", "a3"));
  EXPECT_THAT(outcome.candidate_ids, ElementsAre("b0", "b1", "b2", "b3"));
  EXPECT_NEAR(*outcome.latency_delta_pct, 30, 0.5);
  EXPECT_EQ(outcome.severity, "critical");
  EXPECT_THAT(outcome.recommendation, HasSubstr("--profile"));
}

TEST(Diff, AnotherBatchIsNotComparableUnlessForced) {
  const DiffOutcome refused = compared(side("a", 1e6), side("b", 1.3e6, "8"));
  EXPECT_EQ(refused.verdict, "not-comparable");
  EXPECT_THAT(refused.recommendation, HasSubstr("the same batch"));
  EXPECT_TRUE(refused.metrics.empty());
  const DiffOutcome forced = compared(side("a", 1e6), side("b", 1.3e6, "8"), true);
  EXPECT_EQ(forced.verdict, "regression");
  EXPECT_THAT(forced.notes, Contains(HasSubstr("because of --force")));
}

TEST(Diff, ASessionOnBothSidesIsNoted) { EXPECT_THAT(compared(side("a", 1e6), side("a", 1e6)).notes, Contains(HasSubstr("a0"))); }

TEST(Diff, ABaselinesBudgetsAreThePolicy) {
  ComparedSide a = side("a", 1e6);
  governance::Baseline policy;
  policy.decides = "latency.p50_ns";
  policy.budgets = {{"latency.p50_ns", {0.4, true}}, {"memory.rss_peak_bytes", {0.1, true}}};
  a.baseline = std::make_shared<const governance::Baseline>(policy);
  const DiffRequest request = with_policy({}, a);
  EXPECT_TRUE(request.every_budget);
  EXPECT_THAT(request.metrics.names, ElementsAre("latency.p50_ns", "memory.rss_peak_bytes"));
  EXPECT_EQ(request.metrics.threshold_ratio, 0.4);
  EXPECT_EQ(request.metrics.budgets.at("memory.rss_peak_bytes").threshold_ratio, 0.1);
}

TEST(Diff, NamedMetricsKeepTheBudgetsAndDecideThemselves) {
  ComparedSide a = side("a", 1e6);
  governance::Baseline policy;
  policy.decides = "latency.p50_ns";
  policy.budgets = {{"latency.p50_ns", {0.4, true}}};
  a.baseline = std::make_shared<const governance::Baseline>(policy);
  DiffRequest asked;
  asked.metrics.names = {"memory.rss_peak_bytes"};
  const DiffRequest request = with_policy(asked, a);
  EXPECT_FALSE(request.every_budget);
  EXPECT_THAT(request.metrics.names, ElementsAre("memory.rss_peak_bytes"));
  EXPECT_FALSE(with_policy({}, side("a", 1e6)).every_budget) << "no baseline";
}

TEST(SuspectedCause, IsThePartThatMovesMost) {
  analytics::regression::MetricResult decided;
  decided.verdict = stats::Verdict::regression;
  decided.unit = "ns";
  decided.delta_ratio = 0.3;
  DiffEvidence evidence;
  evidence.kernels_are = "graph_nodes";
  evidence.count_part_ns = 200'000;
  evidence.duration_part_ns = 90'000;
  evidence.overhead_part_ns = 10'000;
  const auto cause = [&] {
    auto found = suspect_cause(side("a", 1e6), side("b", 1.3e6), decided, evidence, {}, Services());
    return found && *found ? (*found)->cause : std::string();
  };
  EXPECT_THAT(cause(), HasSubstr("number of graph nodes changed"));
  evidence.duration_part_ns = 900'000;
  EXPECT_THAT(cause(), HasSubstr("mean duration of graph nodes changed"));
  evidence.duration_part_ns = -900'000;
  EXPECT_EQ(cause(), "") << "the profiled pass moved the other way";
  evidence.duration_part_ns = -209'000;
  EXPECT_EQ(cause(), "") << "the parts cancel";
  decided.verdict = stats::Verdict::equivalent;
  evidence.duration_part_ns = 900'000;
  EXPECT_EQ(cause(), "") << "nothing changed";
}

}  // namespace
}  // namespace aaco::workflows
