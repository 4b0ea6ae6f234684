#include "workflows/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

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

// Recordings of about `run_ns`, told by their metrics alone.
ComparedSide recordings(const std::string& name, double run_ns, const std::string& why = {}) {
  ComparedSide out = side(name, 1);
  for (ComparedSession& session : out.sessions) {
    session.kind = "record";
    const double scatter = 1 + 0.004 * static_cast<double>(session.id.back() - '0');
    session.iterations.clear();
    session.metrics = {{"process.cpu_time_ns", run_ns * 0.9 * scatter, "ns", {}, {}},
                       {"memory.rss_peak_bytes", 1e8 * scatter, "bytes", {}, {}}};
    session.no_run_time = why;
    if (why.empty()) session.metrics.push_back({"process.run_time_ns", run_ns * scatter, "ns", {}, {}});
  }
  return out;
}

DiffOutcome by_default(const ComparedSide& a, const ComparedSide& b) {
  Services services;
  services.paths.share = AACO_SOURCE_DIR;
  DiffRequest request;
  request.store = request.use_history = false;
  auto outcome = diff_sides(a, b, request, services);
  EXPECT_TRUE(outcome) << outcome.error().text();
  return outcome ? *std::move(outcome) : DiffOutcome();
}

TEST(Diff, TheRunTimeOfRecordingsDecides) {
  const auto slower = by_default(recordings("a", 5e8), recordings("b", 4e9));
  EXPECT_EQ(slower.verdict, "regression");
  std::vector<std::string> ids;
  for (const auto& metric : slower.metrics) ids.push_back(metric.id);
  EXPECT_THAT(ids, ElementsAre("process.run_time_ns", "process.cpu_time_ns", "memory.rss_peak_bytes"));
  EXPECT_EQ(by_default(recordings("a", 1e9), recordings("b", 1e9)).verdict, "equivalent");
  EXPECT_EQ(by_default(recordings("a", 4e9), recordings("b", 5e8)).verdict, "improvement");
}

TEST(Diff, ARecordingEndedFromOutsideHasNoRunTimeAndSaysSo) {
  const auto outcome =
      by_default(recordings("a", 5e8, "--duration ended its command"), recordings("b", 4e9, "--duration ended its command"));
  EXPECT_EQ(outcome.metrics.front().id, "memory.rss_peak_bytes");
  EXPECT_EQ(outcome.metrics.size(), 1U) << "its CPU time says how long it was recorded";
  EXPECT_THAT(outcome.notes, Contains("A: 4 of 4 recordings without a run time: --duration ended its command"));
}

TEST(Diff, AFailedCommandIsSaid) {
  auto b = recordings("b", 1e9);
  b.sessions.back().exit_code = 3;
  EXPECT_THAT(by_default(recordings("a", 1e9), b).notes,
              Contains(HasSubstr("1 of 4 recordings the command failed (exit code 3)")));
}

TEST(Diff, OneRecordingASideIsJudgedWithAnAssumedDeviation) {
  auto a = recordings("a", 5e8), b = recordings("b", 4e9), near = recordings("c", 6e8);
  for (ComparedSide* one : {&a, &b, &near}) one->sessions.resize(1);
  EXPECT_EQ(by_default(a, b).verdict, "regression");
  EXPECT_EQ(by_default(a, near).verdict, "inconclusive");
}

TEST(Diff, SlowerFasterAndTheSame) {
  EXPECT_EQ(compared(side("a", 1e6), side("b", 1.3e6)).verdict, "regression");
  EXPECT_EQ(compared(side("a", 1e6), side("b", 0.7e6)).verdict, "improvement");
  EXPECT_EQ(compared(side("a", 1e6), side("b", 1e6)).verdict, "equivalent");
}

// Loads of 60 responses; of each session some arrived in one piece, and it states TPOT where most did not.
ComparedSide llm_side(const std::string& name, double tpot_ns, const std::vector<int>& in_one_piece) {
  ComparedSide side;
  side.name = name;
  for (std::size_t i = 0; i < in_one_piece.size(); ++i) {
    ComparedSession& session = side.sessions.emplace_back();
    session.id = name + std::to_string(i);
    session.kind = "llm";
    session.fingerprint = hardware::make_fingerprint({{"batch", "1"}});
    session.fingerprint_hash = session.fingerprint.hash;
    session.responses = 60;
    session.in_one_piece = in_one_piece[i];
    core::Random random(i + 1);
    auto& tpot = session.series["llm.tpot_p50_ns"];
    for (int k = 0; k < 60; ++k) {
      session.iterations.push_back(20 * tpot_ns * std::exp(0.01 * random.normal()));
      if (k >= in_one_piece[i]) tpot.push_back(tpot_ns * std::exp(0.01 * random.normal()));
    }
    session.series["llm.e2el_p50_ns"] = session.iterations;
    if (tpot.empty()) session.series.erase("llm.tpot_p50_ns");
    if (in_one_piece[i] < 30) session.metrics.push_back({"llm.tpot_p50_ns", tpot_ns, "ns", {}, {}});
    session.metrics.push_back({"llm.e2el_p50_ns", 20 * tpot_ns, "ns", {}, {}});
  }
  judge_tpot(side);
  return side;
}
const analytics::regression::MetricResult* tpot_of(const DiffOutcome& outcome) {
  const auto found =
      std::find_if(outcome.metrics.begin(), outcome.metrics.end(), [](const auto& one) { return one.id == "llm.tpot_p50_ns"; });
  return found == outcome.metrics.end() ? nullptr : &*found;
}
TEST(Diff, OneBlockInOnePieceDoesNotDropTpot) {
  const DiffOutcome outcome = by_default(llm_side("a", 10e6, {0, 40, 0, 0, 60}), llm_side("b", 13e6, {0, 0, 2, 0, 0}));
  const auto* tpot = tpot_of(outcome);
  ASSERT_NE(tpot, nullptr);
  ASSERT_TRUE(tpot->interval) << tpot->reason;
  EXPECT_NEAR(*tpot->delta_ratio, 0.3, 0.02);
  EXPECT_THAT(outcome.notes, Contains("A: TPOT is unknown for 100 of 300 responses, which arrived in one piece; 1 session with "
                                      "none or too few known ones left out"));
  EXPECT_THAT(outcome.notes, Contains("B: TPOT is unknown for 2 of 300 responses, which arrived in one piece"));
  EXPECT_THAT(outcome.notes, Contains(HasSubstr("A: quantiles are the geometric mean of 5 sessions' quantiles")));
}
TEST(Diff, TpotOfASideThatMostlyArrivedInOnePieceIsNotCompared) {
  const DiffOutcome outcome = by_default(llm_side("a", 10e6, {40, 40, 10}), llm_side("b", 13e6, {0, 0, 0}));
  EXPECT_EQ(tpot_of(outcome), nullptr);
  EXPECT_FALSE(outcome.metrics.empty());
  EXPECT_THAT(outcome.notes,
              Contains("A: TPOT is not compared: it is unknown for 90 of 180 responses, which arrived in one piece"));
}
TEST(Diff, OneSessionAndOtherKindsHaveNoNoteOnQuantiles) {
  EXPECT_EQ(quantile_note(llm_side("a", 10e6, {0}), "A"), "");
  EXPECT_EQ(quantile_note(side("a", 1e6), "A"), "");
  EXPECT_EQ(tpot_note(llm_side("a", 10e6, {0}), "A"), "");
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

ComparedSide version(const std::string& name, double level_ns, const char* graph_level) {
  ComparedSide changed = side(name, level_ns);
  for (ComparedSession& session : changed.sessions)
    session.fingerprint = hardware::make_fingerprint({{"batch", "1"}, {"graph_level", graph_level}});
  return changed;
}

TEST(Diff, AnotherVersionIsNamedFirstThenJudged) {
  const DiffOutcome outcome = compared(version("a", 1e6, "all"), version("b", 1.3e6, "disabled"));
  EXPECT_EQ(outcome.verdict, "regression");
  EXPECT_TRUE(outcome.comparable);
  ASSERT_FALSE(outcome.differences.empty());
  EXPECT_EQ(outcome.differences[0].key, "graph_level");
  ASSERT_TRUE(outcome.cause);
  EXPECT_THAT(outcome.cause->cause, HasSubstr("graph_level: all vs disabled"));
  EXPECT_FALSE(compared(version("a", 1e6, "all"), version("b", 1e6, "disabled")).cause) << "nothing got slower";
}
TEST(Diff, OneSideOfTwoVersionsIsRejected) {
  ComparedSide mixed = version("b", 1e6, "all");
  mixed.sessions.push_back(version("c", 1e6, "disabled").sessions.front());
  const DiffOutcome outcome = compared(version("a", 1e6, "all"), mixed);
  EXPECT_EQ(outcome.verdict, "not-comparable");
  EXPECT_THAT(outcome.differences.at(0).meaning, HasSubstr("within one side"));
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

TEST(Distributions, BothSidesShareTheirBins) {
  const auto both = distributions_of(side("a", 1e6), side("b", 1.3e6));
  ASSERT_TRUE(both);
  EXPECT_EQ(both->a.count.size(), both->b.count.size());
  EXPECT_EQ(std::accumulate(both->a.count.begin(), both->a.count.end(), std::int64_t{0}), kSessions * kIterations);
  EXPECT_EQ(std::accumulate(both->b.count.begin(), both->b.count.end(), std::int64_t{0}), both->b.total);
  EXPECT_LT(both->a.p99_ns, both->b.p50_ns);
  EXPECT_TRUE(compared(side("a", 1e6), side("b", 1.3e6)).distributions);
}

TEST(Distributions, AStallDoesNotFlattenOtherBins) {
  ComparedSide b = side("b", 1e6);
  b.sessions[0].iterations[3] = 1e12;
  const auto both = distributions_of(side("a", 1e6), b);
  ASSERT_TRUE(both);
  EXPECT_LT(both->high_ns, 2e6);
  EXPECT_GE(both->b.count.back(), 1);
}

TEST(Distributions, NothingToDraw) {
  EXPECT_FALSE(distributions_of({}, side("b", 1e6)));
  ComparedSide steps = side("b", 1e6), few = side("b", 1e6), constant = side("b", 1e6);
  for (auto& session : steps.sessions) session.scope = "step";
  for (auto& session : few.sessions) session.iterations.resize(1);
  for (auto& session : constant.sessions) std::fill(session.iterations.begin(), session.iterations.end(), 5.0);
  EXPECT_FALSE(distributions_of(side("a", 1e6), steps));
  EXPECT_FALSE(distributions_of(side("a", 1e6), few));
  EXPECT_FALSE(distributions_of(constant, constant));
  for (auto& session : few.sessions) session.iterations.assign(100, std::nan(""));
  EXPECT_FALSE(distributions_of(side("a", 1e6), few));
}

}  // namespace
}  // namespace aaco::workflows
