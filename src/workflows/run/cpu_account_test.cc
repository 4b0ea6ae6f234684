#include "workflows/run/cpu_account.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace aaco::workflows {
namespace {

constexpr double kSecond = 1e9;

trace::Metrics sampled(double cores) {
  return {{"process.cpu_use_cores", cores, "cores", trace::Interval{cores * 0.9, cores * 1.1}, {}}};
}
double value(const trace::Metrics& metrics, std::string_view id) {
  const auto* found = find_metric(metrics, id);
  return found != nullptr ? found->value : -1;
}
trace::Metrics accounted(CpuTotal total, double wall_ns, trace::Metrics metrics) {
  account_cpu(total, wall_ns, metrics);
  return metrics;
}

TEST(CpuAccount, ShortChildrenCount) {
  const auto metrics = accounted({2.76 * kSecond, 1.38 * kSecond}, 2.79 * kSecond, sampled(0.0903));
  EXPECT_NEAR(value(metrics, "process.cpu_use_cores"), 0.989, 0.001);
  EXPECT_FALSE(find_metric(metrics, "process.cpu_use_cores")->ci95) << "the samples' interval is not of this value";
  EXPECT_NEAR(value(metrics, "process.cpu_unsampled_ratio"), 0.909, 0.001);
  EXPECT_DOUBLE_EQ(value(metrics, "process.system_ratio"), 0.5);
  EXPECT_DOUBLE_EQ(value(metrics, "process.cpu_time_ns"), 2.76 * kSecond);
}

TEST(CpuAccount, SamplesThatAgreeStay) {
  const auto metrics = accounted({1.01 * kSecond, 0}, kSecond, sampled(1));
  EXPECT_DOUBLE_EQ(value(metrics, "process.cpu_use_cores"), 1);
  EXPECT_TRUE(find_metric(metrics, "process.cpu_use_cores")->ci95);
}

TEST(CpuAccount, ChildrenThatOutliveTheProgramCount) {
  const auto metrics = accounted({0.1 * kSecond, 0.05 * kSecond}, kSecond, sampled(2));
  EXPECT_DOUBLE_EQ(value(metrics, "process.cpu_time_ns"), 2 * kSecond);
  EXPECT_DOUBLE_EQ(value(metrics, "process.cpu_unsampled_ratio"), 0);
}

TEST(CpuAccount, WithoutSamplesTheTotalIsTheUse) {
  const auto metrics = accounted({0.5 * kSecond, 0}, kSecond, {});
  EXPECT_DOUBLE_EQ(value(metrics, "process.cpu_use_cores"), 0.5);
  EXPECT_DOUBLE_EQ(value(metrics, "process.cpu_unsampled_ratio"), 1);
}

TEST(CpuAccount, NoTimeYieldsNoMetrics) {
  EXPECT_TRUE(accounted({1, 1}, 0, {}).empty());
  const auto idle = accounted({0, 0}, kSecond, {});
  EXPECT_EQ(find_metric(idle, "process.system_ratio"), nullptr);
  EXPECT_EQ(find_metric(idle, "process.cpu_unsampled_ratio"), nullptr);
}

TEST(CpuAccount, UsageOfAnEndedChild) {
  const CpuTotal total = cpu_total(core::ChildUsage{.user_ns = 30, .system_ns = 10});
  EXPECT_DOUBLE_EQ(total.cpu_ns, 40);
  EXPECT_DOUBLE_EQ(total.system_ns, 10);
}

struct Readings {
  trace::NameTable names;
  std::vector<trace::SystemEventRow> rows;
  Readings& add(const char* metric, std::vector<double> values, const char* entity = "tree") {
    for (const double value : values) {
      trace::SystemEventRow row;
      row.time_ns = static_cast<std::int64_t>(rows.size());
      row.metric = names.intern(metric);
      row.entity = names.intern(entity);
      row.value = value;
      rows.push_back(row);
    }
    return *this;
  }
};

TEST(CpuAccount, ProcessesObservedByPidAreReadFromTheirOwnCounters) {
  Readings read;
  read.add("process.cpu_time_seconds", {5, 5.5, 5.2, 6}).add("process.system_time_seconds", {1, 1.2, 1.2, 1.25});
  const auto total = cpu_total(read.rows, read.names);
  ASSERT_TRUE(total);
  EXPECT_DOUBLE_EQ(total->cpu_ns, kSecond);
  EXPECT_DOUBLE_EQ(total->system_ns, 0.25 * kSecond);
}

TEST(CpuAccount, StatesAreSharesOfTheReadings) {
  Readings read;
  read.add("process.stopped_count", {0, 2, 0, 0}).add("process.disk_sleep_count", {1, 1, 0, 0, 1}, "pid 7");
  trace::Metrics metrics;
  account_states(read.rows, read.names, metrics);
  EXPECT_DOUBLE_EQ(value(metrics, "process.stopped_ratio"), 0.25);
  EXPECT_EQ(find_metric(metrics, "process.disk_sleep_ratio"), nullptr);
}

TEST(CpuAccount, RejectsOneReading) {
  EXPECT_FALSE(cpu_total(Readings().add("process.cpu_time_seconds", {5}).rows, trace::NameTable()));
  Readings other;
  other.add("process.cpu_time_seconds", {1, 2}, "pid 7").add("process.system_time_seconds", {1, 2}, "pid 7");
  EXPECT_FALSE(cpu_total(other.rows, other.names));
}

}  // namespace
}  // namespace aaco::workflows
