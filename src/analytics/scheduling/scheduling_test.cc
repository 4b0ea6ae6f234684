#include "analytics/scheduling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace aaco::analytics::scheduling {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kProcess = 10, kCaller = 10, kWorker = 11;

trace::SchedEventRow row(std::int64_t thread, std::int64_t start, std::int64_t duration, std::int64_t process = kProcess) {
  trace::SchedEventRow out;
  out.process_id = process;
  out.thread_id = thread;
  out.time_ns = start;
  out.duration_ns = duration;
  return out;
}

// Two iterations, 100..200 and 300..400.
IterationJoin two() { return IterationJoin({{100, 200}, {300, 400}}, kProcess, kCaller); }

TEST(IterationJoin, SeparatesCallerAndWorkers) {
  IterationJoin join = two();
  join.add(row(kCaller, 110, 10), "run_queue");
  join.add(row(kWorker, 120, 30), "run_queue");
  join.add(row(kCaller, 310, 20), "off_cpu");
  join.add(row(kWorker, 310, 50), "off_cpu");
  EXPECT_THAT(join.sums(), ElementsAre(IterationSums{10, 0, 40, 0, 0, 0}, IterationSums{0, 20, 0, 0, 0, 0}));
}
TEST(IterationJoin, IntervalsAreCutAtTheBorders) {
  IterationJoin join = two();
  join.add(row(kCaller, 50, 300), "run_queue");
  EXPECT_THAT(join.sums(), ElementsAre(IterationSums{100, 0, 100, 0, 0, 0}, IterationSums{50, 0, 50, 0, 0, 0}));
}
TEST(IterationJoin, TimeBetweenIterationsBelongsToNone) {
  IterationJoin join = two();
  for (const char* kind : {"run_queue", "off_cpu", "page_fault", "irq", "migrate"}) join.add(row(kCaller, 200, 100), kind);
  join.add(row(kCaller, 50, 50), "run_queue");
  join.add(row(kCaller, 400, 50), "run_queue");
  EXPECT_THAT(join.sums(), ElementsAre(IterationSums{}, IterationSums{}));
}
TEST(IterationJoin, InstantsInterruptsAndMigrations) {
  IterationJoin join = two();
  join.add(row(kWorker, 100, 0), "page_fault");
  join.add(row(kCaller, 199, 0), "page_fault");
  join.add(row(kCaller, 300, 0), "migrate");
  join.add(row(kWorker, 350, 5), "irq");
  join.add(row(kWorker, 398, 5), "softirq");
  join.add(row(kWorker, 350, 5), "block_io");
  EXPECT_THAT(join.sums(), ElementsAre(IterationSums{0, 0, 0, 2, 0, 0}, IterationSums{0, 0, 0, 0, 7, 1}));
}
TEST(IterationJoin, IgnoresOtherProcesses) {
  IterationJoin join = two();
  join.add(row(77, 110, 10, 77), "run_queue");
  EXPECT_THAT(join.sums(), ElementsAre(IterationSums{}, IterationSums{}));
}
TEST(IterationJoin, NoIterationsAndNegativeTimes) {
  IterationJoin none({}, kProcess, kCaller);
  none.add(row(kCaller, 110, 10), "run_queue");
  EXPECT_THAT(none.sums(), IsEmpty());
  IterationJoin join = two();
  join.add(row(kCaller, 110, -10), "run_queue");
  EXPECT_THAT(join.sums(), ElementsAre(IterationSums{}, IterationSums{}));
}

TEST(IterationMetrics, OnlyOfWatchedIterations) {
  std::vector<trace::IterationRow> rows(3);
  for (auto& each : rows) each.duration_ns = 1000;
  EXPECT_THAT(iteration_metrics(rows), IsEmpty());
  for (std::size_t i = 0; i < 2; ++i) {
    rows[i].caller_run_queue_ns = 100;
    rows[i].caller_off_cpu_ns = 50;
    rows[i].process_run_queue_ns = 400;
    rows[i].page_faults = static_cast<std::int64_t>(i);
    rows[i].interrupt_ns = 8;
    rows[i].migrations = 1;
  }
  const auto metrics = iteration_metrics(rows);
  const auto value = [&](std::string_view id) { return trace::find_metric(metrics, id)->value; };
  EXPECT_DOUBLE_EQ(value("sched.caller_run_queue_ratio"), 0.1);
  EXPECT_DOUBLE_EQ(value("sched.caller_off_cpu_ratio"), 0.05);
  EXPECT_DOUBLE_EQ(value("sched.process_run_queue_per_iteration_ns"), 400);
  EXPECT_DOUBLE_EQ(value("sched.page_faults_per_iteration_count"), 0.5);
  EXPECT_DOUBLE_EQ(value("sched.interrupt_per_iteration_ns"), 8);
  EXPECT_DOUBLE_EQ(value("sched.migrations_per_iteration_count"), 1);
}

TEST(TypicalCall, IsTheMeanOfTheMiddleFifthOfTheWatched) {
  trace::NameTable names;
  std::vector<trace::IterationRow> rows;
  for (std::int64_t i = 0; i < 21; ++i) {
    trace::IterationRow row;
    row.phase = names.intern("measure_telemetry");
    row.duration_ns = 1000 + 100 * i;
    row.caller_run_queue_ns = 10 * i;
    row.caller_off_cpu_ns = 5;
    rows.push_back(row);
  }
  std::reverse(rows.begin(), rows.end());
  const auto call = typical_call(rows, names);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->calls, 5);
  EXPECT_DOUBLE_EQ(call->wall_ns, 2000);
  EXPECT_DOUBLE_EQ(call->wait_ns, 100);
  EXPECT_DOUBLE_EQ(call->blocked_ns, 5);
  for (auto& row : rows) row.phase = names.intern("warmup");
  EXPECT_FALSE(typical_call(rows, names));
  rows.resize(9);
  for (auto& row : rows) row.phase = names.intern("measure");
  EXPECT_FALSE(typical_call(rows, names)) << "too few";
}

TEST(Summary, AWaitForACpuBelongsToTheSleepBeforeIt) {
  trace::NameTable names;
  Summary summary;
  const auto add = [&](std::int64_t thread, std::string_view kind, std::string_view call, std::int64_t from,
                       std::int64_t duration) {
    auto each = row(thread, from, duration);
    each.kind = names.intern(kind);
    each.call = names.intern(call);
    summary.add(each, names);
  };
  add(1, "off_cpu", "fsync", 0, 100);
  add(2, "off_cpu", "read", 50, 50);
  add(1, "run_queue", "", 100, 30);
  add(1, "run", "", 130, 10);
  add(1, "run_queue", "", 140, 500);  // preempted
  add(1, "off_cpu", "fsync", 700, 10);
  add(1, "run_queue", "", 710, 5);
  EXPECT_EQ(summary.reasons().at({"off_cpu", "", "fsync"}).woken_ns, 35);
  EXPECT_EQ(summary.reasons().at({"off_cpu", "", "read"}).woken_ns, 0);
}

TEST(Summary, ByThreadAndByReason) {
  trace::NameTable names;
  Summary summary;
  const auto add = [&](std::int64_t thread, std::string_view kind, std::string_view detail, std::int64_t duration) {
    auto each = row(thread, 0, duration);
    each.kind = names.intern(kind);
    each.detail = names.intern(detail);
    each.thread_name = names.intern("worker");
    summary.add(each, names);
  };
  EXPECT_TRUE(summary.empty());
  EXPECT_THAT(summary.metrics(), IsEmpty());
  add(1, "run", "", 100);
  add(1, "run_queue", "preempted", 10);
  add(1, "run_queue", "preempted", 30);
  add(2, "off_cpu", "sleep", 500);
  add(2, "migrate", "cpu0", 0);
  add(2, "migrate", "cpu1", 0);
  EXPECT_EQ(summary.threads().at(1).run_ns, 100);
  EXPECT_EQ(summary.threads().at(1).run_queue_ns, 40);
  EXPECT_EQ(summary.threads().at(2).migrations, 2);
  EXPECT_EQ(summary.threads().at(2).name, "worker");
  const auto& queue = summary.reasons().at({"run_queue", "preempted", ""});
  EXPECT_EQ(queue.count, 2);
  EXPECT_EQ(queue.total_ns, 40);
  EXPECT_EQ(queue.longest_ns, 30);
  EXPECT_EQ(summary.reasons().at({"migrate", "", ""}).count, 2);
  const auto metrics = summary.metrics();
  EXPECT_EQ(trace::find_metric(metrics, "sched.run_queue_max_ns")->value, 30);
  EXPECT_EQ(trace::find_metric(metrics, "sched.run_queue_p99_ns"), nullptr);
}

}  // namespace
}  // namespace aaco::analytics::scheduling
