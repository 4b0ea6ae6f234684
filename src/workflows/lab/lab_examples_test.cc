#include "workflows/lab_examples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/made_session.h"
#include "workflows/lab_score.h"

namespace aaco::workflows {
namespace {

using core::Json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// A run of 40 calls; its threads waited for a CPU for `wait_ratio` of the calls, while others used `others` cores.
struct LabRun {
  double call_ns = 1e6;
  std::string cause = {};  // empty: undisturbed
  std::string tag = "class=compute_bound", model = "net", kind = "run";
  std::int64_t created_s = 1'700'000'000;
  double wait_ratio = 0.02, others = 0.05;
  const char *threads = "2", *generator = "g";
  double intensity = 0.5;
};

MadeSession session_of(const LabRun& run) {
  constexpr int kCalls = 40;
  MadeSession made;
  made.kind = run.kind;
  made.tag = run.tag;
  made.created_ns = run.created_s * 1'000'000'000;
  made.outcome = Json::object({{"model", run.model}});
  made.facts = {{"threads.intra", run.threads}};
  made.calls_ns.assign(kCalls, run.call_ns);
  if (!run.cause.empty())
    made.request = Json::object(
        {{"fault",
          Json::object(
              {{"fault", "made"}, {"cause", run.cause}, {"generator", run.generator}, {"intensity_ratio", run.intensity}})}});
  made.rows = [run](trace::Sink& sink) {
    const auto part = [wall = kCalls * run.call_ns](double ratio) { return static_cast<std::int64_t>(wall * ratio); };
    trace::LoopBlockRow block;
    block.phase = sink.name("measure");
    block.end_ns = part(1);
    block.call_count = kCalls;
    block.caller_cpu_ns = block.process_cpu_ns = part(0.7);
    block.caller_wait_ns = block.process_wait_ns = part(run.wait_ratio);
    block.machine_busy_ns = part(0.7 + run.others);
    sink.add(block);
  };
  return made;
}

class LabExamplesTest : public testing::Test {
 protected:
  std::string add(const LabRun& run) { return lake_.make(session_of(run)).manifest.id.text; }
  LabExamples examples() {
    auto made = lab_examples(lake_.services);
    EXPECT_TRUE(made) << made.error().text();
    return made ? *std::move(made) : LabExamples();
  }
  // Of one undisturbed run and one that a cause made so much slower.
  static LabExamples pair(const std::string& cause, double factor, const std::string& tag = "class=compute_bound") {
    const Lake lake;
    lake.make(session_of({.tag = tag}));
    lake.make(session_of({.call_ns = 1e6 * factor, .cause = cause, .tag = tag, .created_s = 1'700'000'060}));
    auto made = lab_examples(lake.services);
    EXPECT_TRUE(made) << made.error().text();
    return made ? *std::move(made) : LabExamples();
  }
  Lake lake_;
};

std::vector<std::string> truths(const laboratory::scoring::Examples& examples) {
  std::vector<std::string> out;
  for (const auto& row : examples.rows) out.push_back(row.truth + (row.unprofiled ? " unprofiled" : ""));
  return out;
}

TEST_F(LabExamplesTest, AClearEffectIsAnExampleOfItsClassAndItsCause) {
  const auto made = pair("host_waiting", 1.3);
  EXPECT_EQ(made.sessions, 2);
  ASSERT_THAT(truths(made.bottlenecks),
              ElementsAre("compute_bound", "compute_bound unprofiled", "host_waiting", "host_waiting unprofiled"));
  EXPECT_THAT(truths(made.causes), ElementsAre("host_waiting"));
  const auto& row = made.bottlenecks.rows[2];
  EXPECT_NEAR(*row.effect_ratio, 0.3, 1e-9);
  EXPECT_EQ(row.groups, (std::map<std::string, std::string>{{"model", "net"}, {"intensity", "50"}, {"generator", "made/g"}}));
  EXPECT_EQ(made.without_effect + made.weak + made.without_partner + made.disturbed_otherwise, 0);
}
TEST_F(LabExamplesTest, ADisturbanceIsACauseOnlyFromTheLeastEffect) {
  for (const auto& [factor, without] : {std::pair{1.07, 1}, {1.09, 0}, {0.5, 1}}) {
    const auto made = pair("host_waiting", factor);
    EXPECT_EQ(made.without_effect, without) << factor;
    EXPECT_THAT(made.causes.rows, SizeIs(1U - static_cast<std::size_t>(without))) << factor;
  }
}
TEST_F(LabExamplesTest, AWeakEffectIsACauseAndNotTheLimit) {
  const auto weak = pair("host_waiting", 1.14);
  EXPECT_EQ(weak.weak, 1);
  EXPECT_THAT(truths(weak.causes), ElementsAre("host_waiting"));
  EXPECT_THAT(weak.bottlenecks.rows, SizeIs(2)) << "of the undisturbed run";
  EXPECT_EQ(pair("host_waiting", 1.16).weak, 0);
}
TEST_F(LabExamplesTest, AddedOperatorsLimitOnlyWhereTheyDoubleTheTime) {
  EXPECT_EQ(pair("launch_overhead", 1.9).weak, 1);
  const auto limited = pair("launch_overhead", 2.1);
  EXPECT_EQ(limited.weak, 0);
  EXPECT_EQ(limited.bottlenecks.rows.back().truth, "launch_bound");
  for (const char* tag : {"class=launch_bound", "class=launch-bound"})
    EXPECT_EQ(pair("launch_overhead", 1.3, tag).weak, 0) << "these models were launch-bound before";
}
TEST_F(LabExamplesTest, ASettingMayMakeCallsShorter) {
  const auto made = pair("threads", 0.7);
  EXPECT_EQ(made.without_effect, 0);
  EXPECT_THAT(truths(made.causes), ElementsAre("threads"));
  EXPECT_THAT(made.bottlenecks.rows, SizeIs(2)) << "a setting is not a class of bottleneck";
}
TEST_F(LabExamplesTest, ASettingThatTheFingerprintShowsIsFoundWithoutALearnedModel) {
  add({});
  add({.call_ns = 1.5e6, .cause = "threads", .threads = "1"});
  const auto made = examples();
  EXPECT_THAT(made.causes.rows, IsEmpty());
  ASSERT_THAT(made.by_configuration, SizeIs(1));
  EXPECT_EQ(made.by_configuration[0].truth, "threads");
  EXPECT_EQ(made.by_configuration[0].ranking.at(0).class_id, "threads");
}
TEST_F(LabExamplesTest, TheEffectIsBesideThePartnerThatDiffersLeast) {
  add({.call_ns = 1e6});
  add({.call_ns = 1.25e6});
  add({.call_ns = 1.3e6, .cause = "host_waiting"});
  EXPECT_EQ(examples().without_effect, 1);
}
TEST_F(LabExamplesTest, TheTwoUndisturbedRunsNearestInTimeArePartners) {
  for (const std::int64_t offset : {0, 100, 200, 900})
    add({.call_ns = offset == 0 ? 1.3e6 : 1e6, .created_s = 1'700'000'000 + offset});
  add({.call_ns = 1.3e6, .cause = "host_waiting", .created_s = 1'700'000'150});
  EXPECT_THAT(examples().causes.rows, SizeIs(2)) << "the first run, as slow as the disturbed one, is too far away";
}
TEST_F(LabExamplesTest, OnlyRunsOfTheSameModelAndTagArePartners) {
  add({.tag = "class=compute_bound;a"});
  add({.tag = "class=compute_bound", .model = "other"});
  add({.call_ns = 2e6, .cause = "host_waiting"});
  const auto made = examples();
  EXPECT_EQ(made.without_partner, 1);
  EXPECT_THAT(truths(made.bottlenecks), Not(testing::Contains("host_waiting")));
  EXPECT_EQ(truths(made.bottlenecks).front(), "compute_bound") << "what follows the semicolon is not part of the class";
}
TEST_F(LabExamplesTest, RunsThatOthersDisturbedAreLeftOut) {
  add({});
  add({.call_ns = 1.3e6, .cause = "host_waiting", .wait_ratio = 0.2, .others = 0.5});
  const auto made = examples();
  EXPECT_EQ(made.sessions, 2);
  EXPECT_EQ(made.disturbed_otherwise, 1);
  EXPECT_THAT(made.causes.rows, IsEmpty());
}
TEST_F(LabExamplesTest, ThreadsThatWaitForEachOtherAreNotDisturbed) {
  add({.wait_ratio = 0.2, .others = 0.05});
  add({.call_ns = 1.3e6, .cause = "host_waiting", .wait_ratio = 0.05, .others = 0.5});
  EXPECT_EQ(examples().disturbed_otherwise, 0);
}
TEST_F(LabExamplesTest, AFaultThatMakesThreadsWaitExplainsTheWait) {
  add({});
  add({.call_ns = 1.3e6, .cause = "cpu_contention", .wait_ratio = 0.2, .others = 0.5});
  const auto made = examples();
  EXPECT_EQ(made.disturbed_otherwise, 0);
  EXPECT_THAT(truths(made.causes), ElementsAre("cpu_contention"));
}
TEST_F(LabExamplesTest, ADisturbedRunIsNotAPartner) {
  add({.wait_ratio = 0.2, .others = 0.5});
  add({.call_ns = 1.3e6, .cause = "host_waiting"});
  const auto made = examples();
  EXPECT_EQ(made.disturbed_otherwise, 1);
  EXPECT_EQ(made.without_partner, 1);
}
TEST_F(LabExamplesTest, DecompositionsAreJudgedOnlyWhereThereIsAnEffect) {
  EXPECT_THAT(pair("host_waiting", 1.3).unexplained, SizeIs(1));
  EXPECT_THAT(pair("host_waiting", 1.3).unexplained_by_cause.at("host_waiting"), SizeIs(1));
  EXPECT_THAT(pair("host_waiting", 1.09).unexplained, IsEmpty());
}
TEST_F(LabExamplesTest, TheLatencyItselfIsNotAFeature) {
  const auto made = pair("host_waiting", 1.3);
  EXPECT_THAT(made.bottlenecks.features, Not(testing::Contains("latency.p50_ns")));
  EXPECT_THAT(made.bottlenecks.features, testing::Contains("caller.wait_ratio"));
  for (const auto& row : made.bottlenecks.rows) EXPECT_EQ(row.values.size(), made.bottlenecks.features.size());
}
TEST_F(LabExamplesTest, OtherSessionsAreNotExamples) {
  add({.tag = "baseline"});
  add({.kind = "record"});
  { const auto open = SessionDraft::begin("run", "class=compute_bound", {}, lake_.services); }
  EXPECT_FALSE(lab_examples(lake_.services)) << "none of them is labelled";
  add({.tag = "class=nosuch"});
  const auto made = examples();
  EXPECT_EQ(made.sessions, 1);
  EXPECT_THAT(made.bottlenecks.rows, IsEmpty()) << "an unknown class";
}
TEST_F(LabExamplesTest, RefusesALakeWithoutUsableRuns) {
  const auto empty = lab_examples(lake_.services);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, core::ErrorCode::not_found);
  EXPECT_THAT(empty.error().remedy, HasSubstr("aaco lab inject"));
  add({.wait_ratio = 0.2, .others = 0.5});
  EXPECT_FALSE(lab_examples(lake_.services)) << "all were disturbed";
}
TEST_F(LabExamplesTest, RefusesADamagedSession) {
  const auto path = lake_.make(session_of({})).path;
  ASSERT_TRUE(core::write_file_atomic(core::join_path(path, "env.json"), "{"));
  EXPECT_FALSE(lab_examples(lake_.services));
}

TEST_F(LabExamplesTest, ScoreCountsExamplesOnceAndTheirTwinsApart) {
  for (const char* model : {"a", "b"}) {
    add({.model = model});
    for (const char* cause : {"host_waiting", "page_faults"})
      for (const auto& [generator, intensity] : {std::pair{"g", 0.3}, {"h", 0.7}})
        add({.call_ns = 1.5e6, .cause = cause, .model = model, .generator = generator, .intensity = intensity});
  }
  const auto report = lab_score(lake_.services);
  if (!report && report.error().code == core::ErrorCode::unsupported) GTEST_SKIP() << report.error().message;
  ASSERT_TRUE(report) << report.error().text();
  const auto& judged = report->bottlenecks;
  ASSERT_TRUE(judged.in_use && judged.in_use_unprofiled);
  EXPECT_EQ(judged.in_use->count, 10);
  EXPECT_EQ(judged.in_use_unprofiled->count, 10);
  for (const auto& one : judged.in_use_predictions) EXPECT_FALSE(one.unprofiled);
  EXPECT_EQ(judged.scores.at("model").count, 10);
  EXPECT_EQ(judged.scores.at("model_unprofiled").count, 10);
  EXPECT_EQ(judged.scores.at("intensity").count, 8) << "undisturbed runs have no intensity";
  EXPECT_EQ(report->causes.scores.at("generator").count, 8);
  const Json json = to_json(*report);
  EXPECT_EQ(json["bottleneck"]["examples"]["compute_bound"].as_i64(), 2);
  EXPECT_EQ(json["cause"]["examples"]["host_waiting"].as_i64(), 4);
  const std::string lines = examples_text(*report);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 28) << "20 of bottlenecks, 8 of causes";
}
TEST_F(LabExamplesTest, RefusesToScoreASingleClass) {
  add({});
  add({.call_ns = 1.3e6, .cause = "host_waiting"});
  const auto refused = lab_score(lake_.services);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("at least two classes"));
}
TEST_F(LabExamplesTest, RefusesToScoreOrTrainOnNothing) {
  EXPECT_FALSE(lab_score(lake_.services));
  EXPECT_FALSE(lab_train(lake_.in("models"), lake_.services));
  EXPECT_FALSE(core::exists(lake_.in("models")));
}

}  // namespace
}  // namespace aaco::workflows
