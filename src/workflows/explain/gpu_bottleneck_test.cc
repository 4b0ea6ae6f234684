#include "workflows/explain/gpu_bottleneck.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using core::Json;

Json gpu(std::int64_t device, double compute, double copy, double waiting) {
  return Json::object({{"rank", 0},
                       {"device", device},
                       {"metric_device", device},
                       {"bound", Json::object({{"compute_ratio", compute}, {"copy_ratio", copy}, {"waiting_ratio", waiting}})},
                       {"gaps", Json::array({Json::object({{"cause", "host_late"}, {"gap_count", 4}, {"idle_ns", 500}})})}});
}

// Each device with its busy time in a span of 1000 ns.
struct Trace {
  trace::SessionManifest manifest;
  trace::Metrics metrics;
  Json gpus = Json::array();
  Trace& add(Json one, double busy_ns) {
    const std::int64_t device = *one["metric_device"].as_i64();
    metrics.push_back({"gpu.span_ns", 1000, "ns", {}, device});
    metrics.push_back({"gpu.busy_ns", busy_ns, "ns", {}, device});
    gpus.push(std::move(one));
    return *this;
  }
  std::optional<GpuJudgement> judge() {
    manifest.outcome = trace::outcome_from_json(Json::object({{"gpu", Json::object({{"gpus", gpus}})}}));
    LoadedSession none("/nonexistent/session");
    return judge_gpu(none, manifest, metrics, {}, {});
  }
};

TEST(JudgeGpu, TheLeastBusyDeviceIsJudged) {
  const auto found = Trace().add(gpu(0, 0.1, 0.8, 0.1), 900).add(gpu(1, 0.2, 0.1, 0.7), 300).judge();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bottleneck.class_id, "host_waiting") << "device 1, of which device 0 copies tell nothing";
  EXPECT_EQ(Trace().add(gpu(0, 0.1, 0.8, 0.1), 200).add(gpu(1, 0.2, 0.1, 0.7), 300).judge()->bottleneck.class_id, "copy_bound");
}

TEST(JudgeGpu, ItsGapsAreAdvisedAgainst) {
  const auto found = Trace().add(gpu(1, 0.2, 0.1, 0.7), 300).judge();
  ASSERT_TRUE(found);
  ASSERT_FALSE(found->recommendations.empty());
  EXPECT_EQ(found->recommendations.front().id, "host_waiting");
}

Json idle_cause(const char* id, const char* class_id, std::int64_t idle_ns) {
  return Json::object(
      {{"cause", id}, {"class", class_id}, {"title", id}, {"remedy", "r"}, {"gap_count", 1}, {"idle_ns", idle_ns}});
}
std::string cause_id(double waiting, double launch, std::vector<Json> causes) {
  Json one = gpu(1, 0.1, 0, waiting);
  Json bound = one["bound"];
  one.set("bound", bound.set("launch_ratio", launch));
  Json list = Json::array();
  for (Json& cause : causes) list.push(std::move(cause));
  one.set("idle_causes", list);
  const auto found = Trace().add(std::move(one), 300).judge();
  return found ? std::string(found->cause["id"].text()) : "not judged";
}

TEST(JudgeGpu, TheCauseBelongsToTheClass) {
  const std::vector<Json> causes = {idle_cause("launch-latency", "launch", 500), idle_cause("data-loading", "host", 400),
                                    idle_cause("first-use", "warmup", 1)};
  EXPECT_EQ(cause_id(0.7, 0.1, causes), "data-loading");
  EXPECT_EQ(cause_id(0.1, 0.7, causes), "launch-latency");
}
TEST(JudgeGpu, SilenceIsWeakerEvidenceThanAnEvent) {
  const auto evidence = [](const char* id) {
    Json one = gpu(1, 0.1, 0, 0.8);
    one.set("idle_causes", Json::array({idle_cause(id, "host", 700)}));
    return Trace().add(std::move(one), 300).judge()->bottleneck.evidence_class;
  };
  EXPECT_EQ(evidence("data-loading"), "headline.clear");
  EXPECT_EQ(evidence("unknown"), "headline.close");
}
TEST(JudgeGpu, NoCauseOfAnotherClass) {
  EXPECT_EQ(cause_id(0.7, 0.1, {idle_cause("first-use", "warmup", 400)}), "");
  EXPECT_EQ(cause_id(0, 0, {idle_cause("data-loading", "host", 100)}), "") << "the device computes";
}
TEST(JudgeGpu, DispatchIsTheCauseOfALaunchRate) {
  EXPECT_EQ(
      cause_id(0.1, 0.7,
               {idle_cause("launch", "launch", 300), idle_cause("python", "host", 250), idle_cause("framework", "host", 150)}),
      "framework");
  EXPECT_EQ(cause_id(0.1, 0.7, {idle_cause("launch", "launch", 300), idle_cause("framework", "host", 150)}), "launch");
}
TEST(JudgeGpu, TracesWithoutATimelineSayWhy) {
  Trace trace;
  trace.add(gpu(1, 0.2, 0.1, 0.7), 300);
  trace.manifest.outcome = trace::outcome_from_json(
      Json::object({{"gpu", Json::object({{"gpus", trace.gpus},
                                          {"no_timeline", Json::object({{"reason", "merged-runs"}, {"text", "many runs"}})}})}}));
  LoadedSession none("/nonexistent/session");
  const auto found = judge_gpu(none, trace.manifest, trace.metrics, {}, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bottleneck.class_id, analytics::bottleneck::kInconclusive);
  EXPECT_EQ(found->bottleneck.undecided, "Many runs.");
  EXPECT_EQ(found->cause["id"].text(), "merged-runs");
}

TEST(JudgeGpu, SessionsWithoutGpuWorkAreNotJudged) {
  EXPECT_FALSE(Trace().judge());
  LoadedSession none("/nonexistent/session");
  EXPECT_FALSE(judge_gpu(none, {}, {}, {}, {}));
  EXPECT_FALSE(Trace().add(gpu(0, 0, 0, 0), 300).judge()) << "nothing took any of its span";
  Trace unmeasured;
  unmeasured.add(gpu(0, 0.5, 0, 0.5), 300).metrics.clear();
  EXPECT_FALSE(unmeasured.judge());
}

// A process on device 0 with its times, as profilers that count the devices each process sees tell them.
Json of_process(std::int64_t rank, std::int64_t first_ns, std::int64_t last_ns, double waiting, std::int64_t collectives = 0) {
  Json one = gpu(0, 1 - waiting, 0, waiting);
  one.set("rank", rank).set("metric_device", rank).set("first_ns", first_ns).set("last_ns", last_ns);
  return one.set("collective_count", collectives);
}

TEST(JudgeGpu, TwoProcessesOnOneDeviceNumberMayShareAGpu) {
  const auto found = Trace().add(of_process(0, 0, 1000, 0.02), 980).add(of_process(1, 0, 1000, 0.8), 200).judge();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bottleneck.class_id, "inconclusive");
  EXPECT_EQ(found->cause["id"].text(), "device-unclear");
  EXPECT_TRUE(found->recommendations.empty());
}
TEST(JudgeGpu, ProcessesAfterEachOtherShareNothing) {
  const auto found = Trace().add(of_process(0, 0, 1000, 0.02), 980).add(of_process(1, 5000, 6000, 0.8), 200).judge();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bottleneck.class_id, "host_waiting");
}
TEST(JudgeGpu, RanksOfAJobHaveTheirOwnGpus) {
  const auto found = Trace().add(of_process(0, 0, 1000, 0.02, 5), 980).add(of_process(1, 0, 1000, 0.8, 5), 200).judge();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bottleneck.class_id, "host_waiting");
}

}  // namespace
}  // namespace aaco::workflows
