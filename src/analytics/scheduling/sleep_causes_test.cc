#include "analytics/sleep_causes.h"

#include <gtest/gtest.h>

#include <numeric>

namespace aaco::analytics::scheduling {
namespace {

constexpr std::int64_t kProcess = 10, kCaller = 10, kWorker = 11, kOther = 12;

// One iteration, 0..1000 ns.
struct Sleep {
  SleepCauses causes{{{0, 1000}}, kProcess, kCaller};

  void off(std::int64_t thread, std::int64_t from, std::int64_t to, SleepReason reason, std::int64_t woken_by = 0) {
    add(thread, from, to, "off_cpu", reason, woken_by);
  }
  void add(std::int64_t thread, std::int64_t from, std::int64_t to, const char* kind, SleepReason reason = SleepReason::unknown,
           std::int64_t woken_by = 0) {
    trace::SchedEventRow row;
    row.process_id = kProcess;
    row.thread_id = thread;
    row.time_ns = from;
    row.duration_ns = to - from;
    if (woken_by != 0) row.other_thread_id = woken_by;
    causes.add(row, kind, reason);
  }
  double of(SleepCause cause) { return causes.totals_ns().at(static_cast<std::size_t>(cause)); }
  double all() {
    const auto totals = causes.totals_ns();
    return std::accumulate(totals.begin(), totals.end(), 0.0);
  }
};

TEST(SleepCauses, AWorkersTimeIsDividedByWhatItDid) {
  Sleep sleep;
  sleep.off(kCaller, 100, 600, SleepReason::handoff, kWorker);
  sleep.add(kWorker, 0, 300, "run");
  sleep.add(kWorker, 300, 450, "run_queue");
  sleep.add(kWorker, 450, 600, "run");
  EXPECT_EQ(sleep.of(SleepCause::workers_computing), 350);
  EXPECT_EQ(sleep.of(SleepCause::workers_waiting), 150);
  EXPECT_EQ(sleep.all(), 500);
}
TEST(SleepCauses, AChainOfThreadsIsFollowed) {
  Sleep sleep;
  sleep.off(kCaller, 0, 500, SleepReason::handoff, kWorker);
  sleep.off(kWorker, 0, 400, SleepReason::handoff, kOther);
  sleep.add(kWorker, 400, 500, "run");
  sleep.off(kOther, 0, 300, SleepReason::io);
  sleep.add(kOther, 300, 400, "run_queue");
  EXPECT_EQ(sleep.of(SleepCause::io), 300);
  EXPECT_EQ(sleep.of(SleepCause::workers_waiting), 100);
  EXPECT_EQ(sleep.of(SleepCause::workers_computing), 100);
}
TEST(SleepCauses, TheKernelsReasonsAreKept) {
  Sleep sleep;
  sleep.off(kCaller, 0, 100, SleepReason::io);
  sleep.off(kCaller, 100, 300, SleepReason::page_faults, kWorker);
  sleep.off(kCaller, 300, 600, SleepReason::timer);
  sleep.off(kCaller, 600, 1000, SleepReason::stopped);
  sleep.add(kWorker, 0, 1000, "run");
  EXPECT_EQ(sleep.of(SleepCause::io), 100);
  EXPECT_EQ(sleep.of(SleepCause::page_faults), 200) << "whoever woke it";
  EXPECT_EQ(sleep.of(SleepCause::timer), 300);
  EXPECT_EQ(sleep.of(SleepCause::stopped), 400);
}
TEST(SleepCauses, AHolderThatSleepsIsNamed) {
  Sleep sleep;
  sleep.off(kCaller, 0, 500, SleepReason::handoff, kWorker);  // waits for the lock that the worker holds
  sleep.off(kWorker, 0, 450, SleepReason::timer);
  sleep.add(kWorker, 450, 500, "run");
  sleep.off(kCaller, 600, 700, SleepReason::timer);
  EXPECT_EQ(sleep.of(SleepCause::awaited_thread_asleep), 450);
  EXPECT_EQ(sleep.of(SleepCause::workers_computing), 50);
  EXPECT_EQ(sleep.of(SleepCause::timer), 100) << "the caller's own";
  EXPECT_EQ(sleep.causes.awaited_ns(), (std::map<std::int64_t, double>{{kWorker, 450.0}}));
}
TEST(SleepCauses, OnlyTheLastThreadOfAChainSleeps) {
  Sleep sleep;
  sleep.off(kCaller, 0, 500, SleepReason::handoff, kWorker);
  sleep.off(kWorker, 0, 500, SleepReason::handoff, kOther);
  sleep.off(kOther, 0, 500, SleepReason::event);
  EXPECT_EQ(sleep.causes.awaited_ns(), (std::map<std::int64_t, double>{{kOther, 500.0}}));
}
TEST(SleepCauses, FrozenThreadsAreNotFollowed) {
  Sleep sleep;
  sleep.off(kCaller, 0, 500, SleepReason::frozen, kWorker);
  sleep.add(kWorker, 0, 500, "run");
  EXPECT_EQ(sleep.of(SleepCause::frozen), 500);
  EXPECT_TRUE(sleep.causes.awaited_ns().empty());
}
TEST(SleepCauses, AFutexWithoutAThreadOfTheProcess) {
  Sleep sleep;
  sleep.off(kCaller, 0, 100, SleepReason::handoff);        // its time ran out
  sleep.off(kCaller, 200, 500, SleepReason::handoff, 77);  // another process
  EXPECT_EQ(sleep.of(SleepCause::timer), 100);
  EXPECT_EQ(sleep.of(SleepCause::lock), 300);
}
TEST(SleepCauses, WhatIsNotRecordedIsUnknown) {
  Sleep sleep;
  sleep.off(kCaller, 0, 500, SleepReason::handoff, kWorker);
  sleep.add(kWorker, 100, 200, "run");
  sleep.off(kCaller, 600, 700, SleepReason::unknown);
  EXPECT_EQ(sleep.of(SleepCause::workers_computing), 100);
  EXPECT_EQ(sleep.of(SleepCause::unknown), 500);
}
TEST(SleepCauses, ThreadsThatWakeEachOtherEnd) {
  Sleep sleep;
  sleep.off(kCaller, 0, 500, SleepReason::handoff, kWorker);
  sleep.off(kWorker, 0, 500, SleepReason::handoff, kCaller);
  EXPECT_EQ(sleep.all(), 500);
  EXPECT_EQ(sleep.of(SleepCause::lock), 500);
}
TEST(SleepCauses, OnlySleepInsideIterationsCounts) {
  SleepCauses causes({{100, 200}, {300, 400}}, kProcess, kCaller);
  trace::SchedEventRow row;
  row.process_id = row.thread_id = kCaller;
  row.time_ns = 150;
  row.duration_ns = 200;
  causes.add(row, "off_cpu", SleepReason::io);
  row.process_id = 77;
  causes.add(row, "off_cpu", SleepReason::io);
  EXPECT_EQ(causes.totals_ns().at(static_cast<std::size_t>(SleepCause::io)), 100);
  const auto metrics = causes.metrics();
  ASSERT_EQ(metrics.size(), kSleepCauses);
  EXPECT_EQ(find_metric(metrics, "sched.sleep_io_per_iteration_ns")->value, 50);
}
TEST(SleepCauses, NothingWithoutRowsOrIterations) {
  EXPECT_TRUE(SleepCauses({}, kProcess, kCaller).metrics().empty());
  EXPECT_TRUE(SleepCauses({{0, 9}}, kProcess, kCaller).metrics().empty());
}
TEST(SleepCauses, RowsAreBounded) {
  Sleep sleep;
  for (std::size_t i = 0; i < SleepCauses::kMaxRows; ++i) sleep.add(kWorker, 0, 1, "run");
  sleep.off(kCaller, 0, 100, SleepReason::io);
  EXPECT_EQ(sleep.all(), 0);
}
TEST(SleepReasons, FollowStateAndCall) {
  EXPECT_EQ(sleep_reason("sleep", "futex"), SleepReason::handoff);
  EXPECT_EQ(sleep_reason("sleep", "clock_nanosleep"), SleepReason::timer);
  EXPECT_EQ(sleep_reason("sleep", "epoll_wait"), SleepReason::event);
  EXPECT_EQ(sleep_reason("sleep", "read"), SleepReason::peer);  // a pipe or socket: a disk is waited for uninterruptibly
  EXPECT_EQ(sleep_reason("sleep", "recvfrom"), SleepReason::peer);
  EXPECT_EQ(sleep_reason("sleep", "wait4"), SleepReason::peer);
  EXPECT_EQ(sleep_reason("sleep", "flock"), SleepReason::file_lock);
  EXPECT_EQ(sleep_reason("sleep", "io_getevents"), SleepReason::io);
  EXPECT_EQ(sleep_reason("disk_sleep", "read"), SleepReason::io);
  EXPECT_EQ(sleep_reason("io", "pread64"), SleepReason::io);
  EXPECT_EQ(sleep_reason("disk_sleep", ""), SleepReason::page_faults);
  EXPECT_EQ(sleep_reason("stopped", "futex"), SleepReason::stopped);
  EXPECT_EQ(sleep_reason("frozen", ""), SleepReason::frozen);
  EXPECT_EQ(sleep_reason("sleep", ""), SleepReason::unknown);
  EXPECT_EQ(sleep_reason("idle", "futex"), SleepReason::unknown);
  EXPECT_EQ(sleep_reason("", ""), SleepReason::unknown);
}

}  // namespace
}  // namespace aaco::analytics::scheduling
