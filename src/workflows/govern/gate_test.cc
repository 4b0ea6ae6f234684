#include "workflows/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "tests/support/made_session.h"
#include "workflows/baseline.h"

namespace aaco::workflows {
namespace {

using core::Json;
using testing::Contains;
using testing::HasSubstr;

constexpr const char* kName = "net";

class GateTest : public testing::Test {
 protected:
  // Sessions of about `level_ns` per call; ids in order.
  std::vector<std::string> sessions(double level_ns, int count = 4, const char* batch = "1") {
    std::vector<std::string> ids;
    for (int i = 0; i < count; ++i) {
      MadeSession made;
      made.kind = kind_;
      made.request = request_of_run_;
      made.facts = {{"batch", batch}, {"model.hash", hash_}};
      made.metrics = metrics_;
      made.outcome = Json::object({{"model", model_}});
      core::Random random(static_cast<std::uint64_t>(i) + 1);
      for (int k = 0; k < 100; ++k) made.calls_ns.push_back(level_ns * std::exp(0.01 * random.normal()));
      ids.push_back(lake_.make(made).manifest.id.text);
    }
    return ids;
  }
  void add_baseline_of(std::vector<std::string> ids) {
    BaselineRequest request;
    request.name = kName;
    request.owner = "perf";
    request.sessions = std::move(ids);
    request.metrics = {"p50=10%"};
    const auto made = add_baseline(request, lake_.services);
    ASSERT_TRUE(made) << made.error().text();
    path_ = *made;
  }
  // Rewrites the baseline's file.
  void change(const std::function<void(governance::Baseline&)>& by) {
    auto baseline = load_baseline(path_).value();
    by(baseline);
    ASSERT_TRUE(core::write_file_atomic(path_, to_yaml(baseline)));
  }
  void expire() {
    change([](auto& baseline) {
      baseline.created_realtime_ns = 1'500'000'000'000'000'000;
      baseline.expires_realtime_ns = 1'600'000'000'000'000'000;
    });
  }
  core::Result<GateOutcome> judged(std::vector<std::string> ids) {
    request_.baseline = kName;
    request_.sessions = std::move(ids);
    return gate(request_, lake_.services);
  }
  std::string verdict(std::vector<std::string> ids) {
    const auto outcome = judged(std::move(ids));
    return outcome ? outcome->verdict.verdict : outcome.error().text();
  }
  Lake lake_;
  GateRequest request_;
  std::string kind_ = "run", path_, model_, hash_;
  trace::Metrics metrics_;
  Json request_of_run_;
};

TEST_F(GateTest, SlowerFasterAndTheSame) {
  add_baseline_of(sessions(1e6));
  EXPECT_EQ(verdict(sessions(1.3e6)), "regression");
  EXPECT_EQ(verdict(sessions(0.7e6)), "improvement");
  EXPECT_EQ(verdict(sessions(1e6)), "equivalent");
}
TEST_F(GateTest, TheBaselinesBudgetDecides) {
  add_baseline_of(sessions(1e6));
  const auto slower = sessions(1.3e6);
  change([](auto& baseline) { baseline.budgets["latency.p50_ns"].loss_ratio = 0.6; });
  EXPECT_EQ(verdict(slower), "equivalent");
}
TEST_F(GateTest, AnExpiredBaselineIsNotComparableUnlessForced) {
  add_baseline_of(sessions(1e6));
  const auto slower = sessions(1.3e6);
  expire();
  const auto refused = judged(slower);
  ASSERT_TRUE(refused) << refused.error().text();
  EXPECT_EQ(refused->verdict.verdict, "not-comparable");
  EXPECT_FALSE(refused->verdict.comparable);
  EXPECT_EQ(refused->attempts, 0) << "nothing is compared";
  EXPECT_EQ(refused->verdict.differences.front().key, "baseline.expired");
  EXPECT_THAT(refused->verdict.recommendation, HasSubstr("baseline add net SESSION --replace"));
  request_.force = true;
  EXPECT_EQ(verdict(slower), "regression");
}
TEST_F(GateTest, ABaselineThatExpiresLaterIsValid) {
  add_baseline_of(sessions(1e6));
  change([](auto& baseline) { baseline.expires_realtime_ns = 4'000'000'000'000'000'000; });
  EXPECT_EQ(verdict(sessions(1.3e6)), "regression");
}
TEST_F(GateTest, AMissingApprovalForbidsOnlyWhereItIsRequired) {
  add_baseline_of(sessions(1e6));
  const auto same = sessions(1e6);
  const auto noted = judged(same);
  ASSERT_TRUE(noted);
  EXPECT_EQ(noted->verdict.verdict, "equivalent");
  EXPECT_THAT(noted->verdict.notes, Contains("the baseline is not approved"));
  request_.require_approval = true;
  const auto refused = judged(same);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->verdict.verdict, "not-comparable");
  EXPECT_THAT(refused->verdict.recommendation, HasSubstr("aaco baseline approve net --by NAME"));
}
TEST_F(GateTest, AnApprovedBaselineIsAcceptedUntilItChanges) {
  add_baseline_of(sessions(1e6));
  const auto same = sessions(1e6);
  request_.require_approval = true;
  ASSERT_TRUE(approve_baseline(path_, "ada"));
  EXPECT_EQ(verdict(same), "equivalent");
  change([](auto& baseline) { baseline.budgets["latency.p50_ns"].loss_ratio = 0.6; });
  EXPECT_EQ(verdict(same), "not-comparable");
  request_.force = true;
  EXPECT_EQ(verdict(same), "equivalent");
}
TEST_F(GateTest, ApprovalIsNotListedAsADifference) {
  add_baseline_of(sessions(1e6));
  const auto outcome = judged(sessions(1e6));
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->verdict.differences, testing::IsEmpty());
}
TEST_F(GateTest, SaysWhetherTheBaselinesSessionsAreInTheStore) {
  const auto stored = sessions(1e6);
  add_baseline_of(stored);
  const auto slower = sessions(1.3e6);
  constexpr const char* kNotThere = "the baseline's sessions are not in the store";
  EXPECT_THAT(judged(slower)->verdict.notes, testing::Not(Contains(HasSubstr(kNotThere))));
  change([](auto& baseline) { baseline.sessions.front().id = "20200101T000000Z-aaaaaa"; });
  EXPECT_THAT(judged(slower)->verdict.notes, Contains(HasSubstr(kNotThere)));
}
TEST_F(GateTest, ProfiledSidesGetNoAdviceToProfile) {
  metrics_ = {{"node.execution_count", 10, "1", {}, {}}, {"node.compute_ns", 9e5, "ns", {}, {}}};
  add_baseline_of(sessions(1e6));
  const auto outcome = judged(sessions(1.3e6));
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->verdict.recommendation, testing::Not(HasSubstr("--profile")));
}
TEST_F(GateTest, MemoryIsNotJudgedWhereOneSideRanACollector) {
  const auto run_with = [](bool ebpf) {
    return Json::object({{"model", "mlp"}, {"profile", true}, {"ebpf", ebpf}, {"telemetry", false}});
  };
  metrics_ = {{"memory.rss_peak_bytes", 1e8, "bytes", {}, {}}};
  request_of_run_ = run_with(false);
  add_baseline_of(sessions(1e6));
  change([](auto& baseline) { baseline.budgets["memory.rss_peak_bytes"] = {0.1, true}; });
  metrics_ = {{"memory.rss_peak_bytes", 1.7e8, "bytes", {}, {}}};
  request_of_run_ = run_with(true);
  const auto outcome = judged(sessions(1e6));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->verdict.verdict, "equivalent");
  ASSERT_EQ(outcome->verdict.differences.size(), 1U);
  EXPECT_THAT(to_text(outcome->verdict.differences[0]), HasSubstr("measured_with: --profile vs --ebpf --profile"));
  EXPECT_THAT(outcome->verdict.metrics.at(1).reason, HasSubstr("--ebpf ran on one side only"));
}
TEST_F(GateTest, OtherModelsAreNamed) {
  request_of_run_ = Json::object({{"model", "models/small.onnx"}, {"profile", false}});
  model_ = "small";
  add_baseline_of(sessions(1e6));
  change([](auto& baseline) { baseline.fingerprint["model.hash"] = std::string(64, 'a'); });
  model_ = "large", hash_ = std::string(64, 'b');
  const auto outcome = judged(sessions(1.3e6));
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->verdict.differences.size(), 1U);
  EXPECT_EQ(to_text(outcome->verdict.differences[0]),
            "model.hash: aaaaaaaaaaaaaaaa vs bbbbbbbbbbbbbbbb (different model: small vs large)");
}
TEST_F(GateTest, ConfidenceLevelsAreRounded) {
  request_of_run_ = Json::object({{"model", "zoo:nosuch"}});
  add_baseline_of(sessions(1e6));
  request_.retries = 2;
  EXPECT_NEAR(judged(sessions(1e6))->asked.level, 0.98333, 1e-4);
}
TEST_F(GateTest, TheRunOfTheBaselineIsTheBaseOfOtherOptions) {
  request_of_run_ = Json::object({{"model", "mlp"}, {"threads", 1}, {"profile", true}});
  add_baseline_of(sessions(1e6));
  const auto run = run_of_baseline(kName, lake_.services);
  ASSERT_TRUE(run && *run);
  EXPECT_EQ((*run)->model, "mlp");
  EXPECT_EQ((*run)->threads, 1);
  EXPECT_FALSE(run_of_baseline("nosuch", lake_.services));
}
TEST_F(GateTest, BaselineOfAnImportYieldsNoRequest) {
  kind_ = "import";
  add_baseline_of(sessions(1e6));
  const auto run = run_of_baseline(kName, lake_.services);
  ASSERT_TRUE(run);
  EXPECT_FALSE(*run);
}
TEST_F(GateTest, AnotherBatchIsNotComparable) {
  add_baseline_of(sessions(1e6));
  EXPECT_EQ(verdict(sessions(1e6, 4, "8")), "not-comparable");
}
TEST_F(GateTest, TheLevelIsDividedOverTheAttempts) {
  add_baseline_of(sessions(1e6));
  const auto same = sessions(1e6);
  EXPECT_DOUBLE_EQ(judged(same)->asked.level, 0.95);
  request_.retries = 4;
  const auto outcome = judged(same);
  EXPECT_DOUBLE_EQ(outcome->asked.level, 0.99);
  EXPECT_EQ(outcome->attempts, 1) << "decided at once";
  EXPECT_TRUE(outcome->measured.empty());
}
TEST_F(GateTest, AnUndecidedGateMeasuresAgainOnlyWithRetriesLeft) {
  request_of_run_ = Json::object({{"model", "zoo:nosuch"}});
  add_baseline_of(sessions(1e6, 1));
  const auto near = sessions(1.08e6, 1);
  const auto undecided = judged(near);
  ASSERT_TRUE(undecided) << undecided.error().text();
  EXPECT_EQ(undecided->verdict.verdict, "inconclusive");
  EXPECT_EQ(undecided->attempts, 1);
  request_.retries = 1;
  EXPECT_THAT(verdict(near), HasSubstr("the zoo has no model 'nosuch'")) << "the run of the baseline is repeated";
  const std::atomic<bool> stop = true;
  lake_.services.stop = &stop;
  EXPECT_EQ(verdict(near), "inconclusive") << "not after an interrupt";
}
TEST_F(GateTest, RefusesToMeasureWithoutARunCommand) {
  kind_ = "import";
  add_baseline_of(sessions(1e6));
  EXPECT_THAT(verdict({}), HasSubstr("does not record its run command"));
}
TEST_F(GateTest, RefusesUnknownBaselinesAndSessions) {
  EXPECT_THAT(verdict({}), HasSubstr("no baseline net"));
  add_baseline_of(sessions(1e6));
  EXPECT_NE(verdict({"20200101-000000-aaaaaa"}), "equivalent");
  EXPECT_THAT(verdict({"tag:nosuch"}), HasSubstr("no complete session with tag nosuch"));
  request_.baseline = "nat";
  EXPECT_THAT(gate(request_, lake_.services).error().remedy, HasSubstr("did you mean net?"));
}
TEST_F(GateTest, ReportStatesTheDecidingMetricAndItsBudget) {
  add_baseline_of(sessions(1e6));
  const auto report = gate_report(judged(sessions(1.3e6)).value());
  EXPECT_EQ(report.name, kName);
  EXPECT_EQ(report.verdict, "regression");
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_TRUE(report.rows[0].decides);
  EXPECT_TRUE(report.rows[0].lower_is_better);
  EXPECT_EQ(report.rows[0].budget_ratio, 0.1);
  EXPECT_NEAR(*report.rows[0].delta_ratio, 0.3, 0.01);
  EXPECT_EQ(report.candidate_sessions.size(), 4U);
}

TEST(GateRequestOfRun, IsReadFromTheSession) {
  const auto read = run_request_from_json(*Json::parse(
      R"({"model": "mlp", "backend": "cpu", "batch": 4, "threads": 2, "dimensions": {"n": 8}, "shapes": {"x": [1, 2]}, "seed": 7})"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->model, "mlp");
  EXPECT_EQ(read->batch, 4);
  EXPECT_EQ(read->threads, 2);
  EXPECT_EQ(read->dimensions.at("n"), 8);
  EXPECT_EQ(read->shapes.at("x"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(read->seed, 7U);
}
TEST(GateRequestOfRun, RefusesARequestWithoutAModel) {
  EXPECT_FALSE(run_request_from_json(Json()));
  EXPECT_FALSE(run_request_from_json(Json::object({{"backend", "cpu"}})));
  EXPECT_FALSE(run_request_from_json(Json::object({{"model", 7}})));
}

}  // namespace
}  // namespace aaco::workflows
