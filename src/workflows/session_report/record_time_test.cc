#include "workflows/session_report/record_time.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

report::ReportModel recorded() {
  report::ReportModel model;
  model.session.kind = "record";
  model.session.outcome.wall_ns = 2'000'000'000;
  model.metrics = {{"process.cpu_time_ns", 1e9, "ns", {}, {}},
                   {"process.system_ratio", 0.2, "ratio", {}, {}},
                   {"process.run_queue_wait_ratio", 0.5, "ratio", {}, {}}};
  return model;
}

double share(const report::ReportModel& model, std::string_view name) {
  for (const auto& part : model.parts)
    if (part.name == name) return part.share_ratio;
  return 0;
}

TEST(RecordTime, CpuTimeAndWaitsWithoutEvents) {
  auto model = recorded();
  fill_record_time(model);
  EXPECT_EQ(model.time_whole, report::TimeWhole::active);
  EXPECT_DOUBLE_EQ(share(model, "computing"), 0.4);
  EXPECT_DOUBLE_EQ(share(model, "in the kernel"), 0.1);
  EXPECT_DOUBLE_EQ(share(model, "waiting for a CPU"), 0.5);
  EXPECT_EQ(model.parts.size(), 3U);
}

TEST(RecordTime, SleepByCauseWithEvents) {
  auto model = recorded();
  report::OperatingSystem system;
  system.reasons = {{"off_cpu", "sleep", "futex", 10, 2'000'000'000, 1000, 0},
                    {"run_queue", "", "", 10, 1'500'000'000, 1000, 0},
                    {"off_cpu", "io", "fsync", 10, 500'000'000, 1000, 0},
                    {"off_cpu", "io", "read", 10, 250'000'000, 1000, 0}};
  model.sections.operating_system = system;
  fill_record_time(model);
  EXPECT_EQ(model.time_whole, report::TimeWhole::threads);
  EXPECT_DOUBLE_EQ(share(model, "waiting for a CPU"), 1.5 / 5.25);
  EXPECT_DOUBLE_EQ(share(model, "asleep: lock or hand-over between threads"), 2 / 5.25);
  EXPECT_DOUBLE_EQ(share(model, "asleep: storage"), 0.75 / 5.25);
  double sum = 0;
  for (const auto& part : model.parts) sum += part.share_ratio;
  EXPECT_DOUBLE_EQ(sum, 1);
}

TEST(RecordTime, NothingWithoutCpuTimeAndOfOtherSessions) {
  auto unknown = recorded();
  unknown.metrics.erase(unknown.metrics.begin());
  fill_record_time(unknown);
  EXPECT_TRUE(unknown.parts.empty());
  auto run = recorded();
  run.session.kind = "run";
  fill_record_time(run);
  EXPECT_TRUE(run.parts.empty());
}

TEST(RecordTime, KeepsOtherParts) {
  auto model = recorded();
  model.parts.emplace_back().name = "GPU busy";
  fill_record_time(model);
  EXPECT_EQ(model.parts.size(), 1U);
}

}  // namespace
}  // namespace aaco::workflows
