#include "workflows/session_report/record_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// A recorded program on a machine of four CPUs.
struct Recorded {
  report::ReportModel model;
  explicit Recorded(double cores) {
    model.session.kind = "record";
    model.environment = core::Json::object({{"cpu", core::Json::object({{"allowed_cpus", 4}, {"logical_cpus", 8}})}});
    metric("process.cpu_use_cores", cores);
  }
  Recorded& metric(const std::string& id, double value) {
    model.metrics.push_back({id, value, "", {}, {}});
    return *this;
  }
  Recorded& series(const std::string& id, const std::string& entity, std::vector<double> values) {
    report::Series one;
    one.metric = id;
    one.entity = entity;
    for (std::size_t i = 0; i < values.size(); ++i) one.time_ns.push_back(static_cast<std::int64_t>(i) * 1'000'000);
    one.value = std::move(values);
    model.telemetry.push_back(std::move(one));
    return *this;
  }
  [[nodiscard]] std::string limit() const { return record_verdict(model)->why.id; }
};

TEST(RecordVerdict, NamesWhatLimitsTheProgram) {
  EXPECT_EQ(Recorded(3.9).limit(), "compute_bound");
  EXPECT_EQ(Recorded(1.0).limit(), "compute_bound");
  EXPECT_EQ(Recorded(0.05).limit(), "host_waiting");
  EXPECT_EQ(Recorded(2).limit(), "inconclusive");
  EXPECT_EQ(Recorded(2).metric("process.run_queue_wait_ratio", 1).limit(), "cpu_contention");
  EXPECT_EQ(Recorded(2).metric("cgroup.throttled_ratio", 0.4).limit(), "cpu_throttling");
  EXPECT_EQ(Recorded(0.1).metric("pressure.io_some_ratio", 0.6).limit(), "storage");
  EXPECT_EQ(Recorded(0.1).series("process.major_faults_per_second", "tree", {400, 600}).limit(), "page_faults");
  EXPECT_EQ(Recorded(1).metric("gpu.use_ratio", 0.95).limit(), "gpu_busy");
}

TEST(RecordVerdict, SaysHowMuchOfTheMachineWasUsed) {
  const auto found = record_verdict(Recorded(1.84).metric("gpu.use_ratio", 0.5).model);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->sentence, "1.84 of 4 CPUs busy, GPU busy 50.0 %; no single limit");
  EXPECT_FALSE(found->why.confidence_ratio) << "the thresholds are not calibrated";
}

TEST(RecordVerdict, NamesTheProcessThatTookTheTime) {
  Recorded with(2);
  with.series("process.cpu_time_seconds", "pid 10", {0, 1}).series("process.cpu_time_seconds", "pid 11", {0, 9});
  EXPECT_THAT(record_verdict(with.model)->why.evidence, Contains(HasSubstr("90.0 % of the CPU time is of pid 11")));
  Recorded alone(2);
  alone.series("process.cpu_time_seconds", "pid 10", {0, 9});
  EXPECT_THAT(record_verdict(alone.model)->why.evidence, Not(Contains(HasSubstr("of the CPU time"))));
}

TEST(RecordVerdict, PhasesAreSeen) {
  Recorded with(2);
  with.series("process.cpu_use_cores", "tree", {0, 0, 4, 4, 4, 4, 1, 1});
  EXPECT_THAT(record_verdict(with.model)->why.evidence, Contains(HasSubstr("by quarter of the run: 0, 4, 4, 1")));
}

TEST(RecordVerdict, MissingCpuUseGivesNone) {
  report::ReportModel model;
  EXPECT_FALSE(record_verdict(model));
  model.metrics.push_back({"gpu.use_ratio", 0.9, "ratio", {}, {}});
  EXPECT_FALSE(record_verdict(model));
}

}  // namespace
}  // namespace aaco::workflows
