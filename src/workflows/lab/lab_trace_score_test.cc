#include "workflows/lab_trace_score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/made_session.h"
#include "workflows/lab.h"
#include "workflows/lab_score.h"
#include "workflows/lab_simulate.h"

namespace aaco::workflows {
namespace {

using core::Json;
using testing::HasSubstr;

// A trace of 60 kernels of 8 us, one every 10 us.
MadeSession trace_of_kernels() {
  MadeSession made;
  made.kind = "import";
  made.tag = "real";
  made.rows = [](trace::Sink& sink) {
    for (int i = 0; i < 60; ++i) {
      trace::KernelRow row;
      row.name = sink.name(i % 2 == 0 ? "gemm" : "relu");
      row.start_ns = i * 10'000;
      row.end_ns = row.start_ns + 8'000;
      sink.add(row);
    }
  };
  return made;
}

class LabTraces : public testing::Test {
 protected:
  core::Result<SessionOutcome> simulated(const std::string& fault, double intensity = 1,
                                         const std::string& session = "tag:real") {
    return simulate({fault, session, intensity, "made"}, lake_.services);
  }
  std::string refusal(const std::string& fault, double intensity = 1, const std::string& session = "tag:real") {
    const auto made = simulated(fault, intensity, session);
    return made ? "accepted" : made.error().text();
  }
  // A trace whose calls took so long, said to be simulated from `original`.
  void add(double call_ns, const std::string& original) {
    MadeSession made;
    made.kind = "import";
    for (int i = 0; i < 60; ++i) made.calls_ns.push_back(call_ns * (1 + 0.001 * (i % 7)));
    if (!original.empty())
      made.request = Json::object(
          {{"simulated_from", original}, {"fault", Json::object({{"fault", "gpu_gaps"}, {"cause", "host_waiting"}})}});
    last_ = lake_.make(made).manifest.id.text;
  }
  LabTraceScore score() {
    auto made = score_simulated_traces(lake_.services);
    EXPECT_TRUE(made) << made.error().text();
    return made ? *std::move(made) : LabTraceScore();
  }
  Lake lake_;
  std::string last_;
};

TEST_F(LabTraces, ASimulatedTraceNamesItsFaultAndItsOriginal) {
  const auto original = lake_.make(trace_of_kernels());
  const auto made = simulated("gpu_gaps");
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ(made->manifest.kind, "import");
  EXPECT_EQ(made->manifest.tag, "made");
  EXPECT_EQ(made->manifest.fingerprint, original.manifest.fingerprint);
  EXPECT_EQ(made->manifest.request["simulated_from"].text(), original.manifest.id.text);
  EXPECT_EQ(made->manifest.request["fault"]["cause"].text(), "dependency_bound");
  ASSERT_FALSE(made->manifest.warnings.empty());
  EXPECT_EQ(made->manifest.warnings.front().id, "lab.fault");
  EXPECT_TRUE(tracelake::verify_session(original.path)->empty()) << "the original stays as it is";
}
TEST_F(LabTraces, GapsLowerTheBusyShareAndSlowerKernelsDoNot) {
  lake_.make(trace_of_kernels());
  const auto gaps = simulated("gpu_gaps"), clock = simulated("gpu_clock_cap");
  ASSERT_TRUE(gaps && clock);
  const auto busy = [](const SessionOutcome& of) { return trace::find_metric(of.metrics, "gpu.busy_ns")->value; };
  EXPECT_EQ(busy(*gaps), 60 * 8'000);
  EXPECT_GT(busy(*clock), 60 * 12'000);
}
TEST_F(LabTraces, RefusesFaultsOfRunsAndUnknownOnes) {
  lake_.make(trace_of_kernels());
  EXPECT_THAT(refusal("sleep"), HasSubstr("applies to runs, not to traces"));
  EXPECT_THAT(refusal("gpu_gap"), HasSubstr("gpu_gaps"));
}
TEST_F(LabTraces, RefusesIntensitiesOutOfRange) {
  lake_.make(trace_of_kernels());
  for (const double intensity : {0.0, -1.0, 1.5})
    EXPECT_THAT(refusal("gpu_gaps", intensity), HasSubstr("intensity")) << intensity;
}
TEST_F(LabTraces, RefusesSessionsWithoutKernelsAndUnknownOnes) {
  const auto empty = lake_.make({});
  EXPECT_THAT(refusal("gpu_gaps", 1, empty.path), HasSubstr("the trace has no kernels"));
  EXPECT_NE(refusal("gpu_gaps", 1, "tag:nosuch"), "accepted");
}

TEST_F(LabTraces, PairsAreCountedByTheirVerdict) {
  add(1e6, "");
  const std::string original = last_;
  add(3e6, original);
  add(0.3e6, original);
  add(3e6, "20200101-000000-aaaaaa");
  const auto made = score();
  EXPECT_EQ(made.pairs, 3);
  EXPECT_EQ(made.without_original, 1);
  EXPECT_EQ(made.wrong_direction, 1) << "a fault is never an improvement";
  EXPECT_EQ(made.verdicts.at("gpu_gaps").at("regression"), 1);
  EXPECT_EQ(made.verdicts.at("gpu_gaps").at("improvement"), 1);
  EXPECT_EQ(made.causes.count, 1) << "only the regression has a cause to find";
  EXPECT_EQ(made.without_effect + made.undecided, 0);
}
TEST_F(LabTraces, ARegressionWithoutTheRightCauseIsWrong) {
  add(1e6, "");
  add(3e6, last_);
  const auto made = score().causes;
  EXPECT_EQ(made.count, 1);
  EXPECT_EQ(made.first, 0) << "nothing in the trace tells of the cause";
  EXPECT_EQ(made.confusion.at("host_waiting").at("none"), 1);
}
TEST_F(LabTraces, SessionsThatAreNotSimulatedAreNotPairs) {
  add(1e6, "");
  MadeSession run;
  run.request = Json::object({{"simulated_from", last_}, {"fault", Json::object({{"fault", "gpu_gaps"}})}});
  lake_.make(run);
  EXPECT_EQ(score().pairs, 0);
}
TEST_F(LabTraces, ALakeOfTracesAloneIsScoredAndNotTrainedOn) {
  add(1e6, "");
  add(3e6, last_);
  const auto report = lab_score(lake_.services);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->traces.pairs, 1);
  EXPECT_EQ(report->examples.sessions, 0);
  EXPECT_TRUE(examples_text(*report).empty());
  const auto refused = lab_train(lake_.in("models"), lake_.services);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no labelled runs to train on"));
}

class LabInject : public testing::Test {
 protected:
  std::string refusal(const std::string& fault, double intensity = 0.5, const std::string& generator = {}, int threads = 1) {
    InjectRequest request;
    request.fault = fault;
    request.intensity = intensity;
    request.generator = generator;
    request.run.model = "zoo:nosuch";
    request.run.threads = threads;
    const auto made = inject(request, lake_.services);
    return made ? "accepted" : made.error().text();
  }
  Lake lake_;
};

TEST_F(LabInject, RefusesFaultsOfTracesAndUnknownOnes) {
  EXPECT_THAT(refusal("gpu_gaps"), HasSubstr("applies to traces, not to runs"));
  EXPECT_THAT(refusal("sleeep"), HasSubstr("sleep"));
}
TEST_F(LabInject, RefusesIntensitiesAndGeneratorsThatTheFaultLacks) {
  EXPECT_THAT(refusal("sleep", 1.5), HasSubstr("intensity"));
  EXPECT_THAT(refusal("sleep", 0.5, "nosuch"), HasSubstr("nosuch"));
}
TEST_F(LabInject, RefusesFewerThreadsThanOne) {
  EXPECT_THAT(refusal("fewer_threads"), HasSubstr("the run already uses one thread"));
  EXPECT_THAT(refusal("fewer_threads", 0.5, {}, 2), testing::Not(HasSubstr("already has one thread")));
}
TEST_F(LabInject, RefusesUnknownModels) { EXPECT_NE(refusal("graph_optimisation_off"), "accepted"); }
TEST_F(LabInject, NothingIsLeftToUndo) { EXPECT_EQ(clean_up_faults(lake_.services).value(), 0); }

}  // namespace
}  // namespace aaco::workflows
