#include "workflows/run_work.h"

#include <gtest/gtest.h>

#include "tests/support/made_session.h"

namespace aaco::workflows {
namespace {

using core::Json;

// A profiled run of one node of 1e6 operations in 1 ms, predicted on a processor of 8 cores.
MadeSession profiled(std::int64_t threads, const char* executed = "conv") {
  MadeSession made;
  made.outcome = Json::object({{"threads", threads}});
  made.documents.emplace_back("predict/estimate_summary.json",
                              Json::object({{"schema_version", 1}, {"device", "acme"}, {"device_name", "Acme"}, {"units", 8}}));
  made.rows = [executed](trace::Sink& sink) {
    trace::EstimateRow estimate;
    estimate.node_name = sink.name("conv");
    estimate.aliases = sink.name("[]");
    estimate.op_type = sink.name("Conv");
    estimate.data_type = sink.name("fp32");
    estimate.repeat_count = 1;
    estimate.flops = 1e6;
    estimate.bytes = 100'000;
    estimate.attainable_ns = estimate.compute_ns = 400'000;
    sink.add(estimate);
    trace::NodeExecutionRow row;
    row.node_name = sink.name(executed);
    row.op_type = sink.name("Conv");
    row.provider = sink.name("CPUExecutionProvider");
    row.duration_ns = 1'000'000;
    sink.add(row);
    trace::IterationRow iteration;
    iteration.phase = sink.name("profile");
    iteration.duration_ns = 1'000'000;
    sink.add(iteration);
  };
  return made;
}

Json gpu(const char* id, double flops) {
  const Json kernel = Json::object({{"name", "k"}, {"flops", flops}, {"bytes", 1e6}, {"time_ns", 1e3}, {"dtype", "float32"}});
  return Json::object({{"roofline", Json::object({{"device_id", id}, {"device_name", id}, {"kernels", Json::array({kernel})}})}});
}

std::vector<RunWork> work_of(const MadeSession& made) {
  const Lake lake;
  const auto session = lake.make(made);
  return run_work(session.path, session.manifest).value();
}

TEST(RunWork, ProfiledNodesArePointsOfTheProcessor) {
  const auto work = work_of(profiled(8));
  ASSERT_EQ(work.size(), 1U);
  EXPECT_EQ(work[0].device_id, "acme");
  EXPECT_EQ(work[0].device_name, "Acme");
  ASSERT_EQ(work[0].points.size(), 1U);
  EXPECT_EQ(work[0].points[0].flops, 1e6);
  EXPECT_EQ(work[0].points[0].bytes, 1e5);
  EXPECT_EQ(work[0].points[0].time_ns, 1e6);
}
TEST(RunWork, ThreadsCountOnlyWhereFewerThanTheCores) {
  for (const auto& [threads, expected] : {std::pair{1, 1}, {7, 7}, {8, 0}, {16, 0}, {0, 0}})
    EXPECT_EQ(work_of(profiled(threads)).at(0).threads, expected) << threads;
}
TEST(RunWork, NodesWithoutAnEstimateAreNoPoints) { EXPECT_TRUE(work_of(profiled(8, "made_by_the_runtime")).empty()); }
TEST(RunWork, GpusOfOneKindAreOneEntry) {
  MadeSession made;
  made.kind = "import";
  made.outcome = Json::object({{"gpu", Json::object({{"gpus", Json::array({gpu("b", 1), gpu("a", 2), gpu("b", 3)})}})}});
  const auto work = work_of(made);
  ASSERT_EQ(work.size(), 2U);
  EXPECT_EQ(work[0].device_id, "a");
  EXPECT_EQ(work[0].points.size(), 1U);
  EXPECT_EQ(work[1].points.size(), 2U);
}
TEST(RunWork, GpusWithoutADeviceOrKernelsAreLeftOut) {
  MadeSession made;
  made.kind = "import";
  const Json empty = Json::object({{"roofline", Json::object({{"device_id", "a"}, {"kernels", Json::array()}})}});
  made.outcome =
      Json::object({{"gpu", Json::object({{"gpus", Json::array({gpu("", 1), empty, Json::object({{"roofline", Json()}})})}})}});
  EXPECT_TRUE(work_of(made).empty());
}
TEST(RunWork, ARunWithoutPredictionsHasNone) {
  auto made = profiled(8);
  made.documents.clear();
  EXPECT_TRUE(work_of(made).empty());
  EXPECT_TRUE(work_of({}).empty());
}
TEST(RunWork, RefusesADamagedSummary) {
  const Lake lake;
  const auto session = lake.make(profiled(8));
  ASSERT_TRUE(core::write_file_atomic(core::join_path(session.path, "predict/estimate_summary.json"), "{"));
  EXPECT_FALSE(run_work(session.path, session.manifest));
}

}  // namespace
}  // namespace aaco::workflows
