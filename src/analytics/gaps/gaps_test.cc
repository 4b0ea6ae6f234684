#include "analytics/gaps.h"

#include <gtest/gtest.h>

namespace aaco::analytics::gaps {
namespace {

class GapTest : public testing::Test {
 protected:
  // A gap from 100 to 200 us.
  void gap(std::optional<NextLaunch> launch) {
    gap_ = {0, 0, 100'000, 200'000, names_.intern("before"), names_.intern("after"), launch};
    explainer_.still_idle({{0, 100'000}});
  }
  NextLaunch launch(std::int64_t start_us, std::int64_t end_us, bool is_copy = false) {
    return {start_us * 1000, end_us * 1000, 1, names_.intern("hipLaunchKernel"), is_copy, false};
  }
  void call(const char* domain, const char* name, std::int64_t start_us, std::int64_t end_us, std::int64_t thread = 1) {
    trace::ApiCallRow row;
    row.domain = names_.intern(domain);
    row.name = names_.intern(name);
    row.thread_id = thread;
    row.start_ns = start_us * 1000;
    row.end_ns = end_us * 1000;
    explainer_.add_call(row);
  }
  void schedule(const char* kind, std::int64_t start_us, std::int64_t end_us, const char* detail = "", const char* call = "") {
    trace::SchedEventRow row;
    row.kind = names_.intern(kind);
    row.thread_id = 1;
    row.time_ns = start_us * 1000;
    row.duration_ns = (end_us - start_us) * 1000;
    row.detail = names_.intern(detail);
    row.call = names_.intern(call);
    explainer_.add_schedule(row);
  }
  std::string cause() {
    const auto explained = explainer_.explain(gap_);
    evidence_ = names_.text(explained.row.evidence);
    EXPECT_EQ(names_.text(explained.row.cause), to_string(explained.cause));
    row_ = explained.row;
    return std::string(to_string(explained.cause));
  }
  trace::NameTable names_;
  GapExplainer explainer_{names_};
  Gap gap_;
  std::string evidence_;
  trace::GapRow row_;
};

TEST_F(GapTest, TheHostWasBusyElsewhere) {
  gap(launch(190, 195));
  call("cpu_op", "aten::index", 90, 185);
  EXPECT_EQ(cause(), "host_late");
  EXPECT_EQ(evidence_, "aten::index");
}
TEST_F(GapTest, HostIdleInTrace) {
  gap(launch(190, 195));
  EXPECT_EQ(cause(), "queue_empty");
}
TEST_F(GapTest, IgnoresCallsWithoutTime) {
  gap(launch(190, 195));
  call("cpu_op", "aten::index", -9'000'000'000'000'000, 9'000'000'000'000'000);
  EXPECT_EQ(cause(), "queue_empty");
}
TEST_F(GapTest, IgnoresOtherThreads) {
  gap(launch(190, 195));
  call("cpu_op", "aten::index", 90, 185, 2);
  EXPECT_EQ(cause(), "queue_empty");
}
TEST_F(GapTest, TheHostWaitedForTheDevice) {
  gap(launch(190, 195));
  call("hip", "hipDeviceSynchronize", 50, 160);
  EXPECT_EQ(cause(), "synchronisation");
  EXPECT_EQ(evidence_, "hipDeviceSynchronize");
}
TEST_F(GapTest, IgnoresEarlierSynchronisation) {
  gap(launch(190, 195));
  call("hip", "hipDeviceSynchronize", 10, 99);
  EXPECT_EQ(cause(), "queue_empty");
}
TEST_F(GapTest, ABlockingCopyHeldTheHost) {
  gap(launch(190, 195));
  call("cuda_runtime", "cudaMemcpy", 95, 180);
  EXPECT_EQ(cause(), "copy");
}
TEST_F(GapTest, SlowLaunch) {
  gap(launch(90, 195));
  EXPECT_EQ(cause(), "launch_latency");
}
TEST_F(GapTest, LaunchedEarlyInTheGapAndStartedSoon) {
  gap(launch(110, 160));
  EXPECT_EQ(cause(), "launch_latency");
}
TEST_F(GapTest, EarlyLaunchWithDelayIsUnknown) {
  gap(launch(110, 120));
  EXPECT_EQ(cause(), "unknown");
}
TEST_F(GapTest, StreamWait) {
  gap(launch(110, 120));
  call("hip", "hipStreamWaitEvent", 104, 108);
  EXPECT_EQ(cause(), "dependency");
  EXPECT_EQ(evidence_, "hipStreamWaitEvent");
}
TEST_F(GapTest, EarlierStreamWaitHoldsQueuedLaunch) {
  call("cuda_runtime", "cudaStreamWaitEvent", 5, 8);
  gap(launch(10, 20));
  EXPECT_EQ(cause(), "dependency");
}
TEST_F(GapTest, IgnoresUnrelatedStreamWaits) {
  call("cuda_runtime", "cudaStreamWaitEvent", 5, 8, 2);
  call("cuda_runtime", "cudaStreamWaitEvent", -500, -495);
  gap(launch(10, 20));
  EXPECT_EQ(cause(), "unknown");
}
TEST_F(GapTest, HostRunnableWithoutCpu) {
  gap(launch(190, 195));
  schedule("run", 50, 105);
  schedule("run_queue", 105, 185, "preempted");
  schedule("run", 185, 250);
  call("hip", "hipDeviceSynchronize", 50, 186);  // it had returned, had there been a CPU
  EXPECT_EQ(cause(), "host_late");
  EXPECT_EQ(evidence_, "run_queue");
  EXPECT_EQ(row_.host_run_queue_ns, 80'000);
  EXPECT_EQ(row_.host_off_cpu_ns, 0);
  EXPECT_EQ(row_.evidence_start_ns, 105'000);
}
TEST_F(GapTest, HostSleptInUntracedCall) {
  gap(launch(190, 195));
  schedule("run", 50, 110);
  schedule("off_cpu", 110, 180, "sleep", "futex");
  schedule("run", 180, 250);
  EXPECT_EQ(cause(), "queue_empty");
  EXPECT_EQ(evidence_, "off_cpu: sleep in futex");
  EXPECT_EQ(row_.host_off_cpu_ns, 70'000);
}
TEST_F(GapTest, TheHostWaitedForTheDisk) {
  gap(launch(190, 195));
  schedule("run", 50, 110);
  schedule("off_cpu", 110, 180, "io", "read");
  schedule("run", 180, 250);
  call("cpu_op", "aten::load", 90, 185);
  EXPECT_EQ(cause(), "host_late");
  EXPECT_EQ(evidence_, "off_cpu: io in read");
}
TEST_F(GapTest, ASleepInsideATracedCallIsThatCall) {
  gap(launch(190, 195));
  schedule("run", 50, 101);
  schedule("off_cpu", 101, 150, "sleep", "ioctl");
  schedule("run", 150, 250);
  call("hip", "hipDeviceSynchronize", 50, 160);
  EXPECT_EQ(cause(), "synchronisation");
  EXPECT_EQ(row_.host_off_cpu_ns, 49'000);
}
TEST_F(GapTest, WithOnlyRunRowsTheRemainderIsOffCpu) {
  gap(launch(190, 195));
  schedule("run", 50, 110);
  schedule("run", 185, 250);
  EXPECT_EQ(cause(), "queue_empty");
  EXPECT_EQ(evidence_, "off_cpu");
  EXPECT_EQ(row_.host_off_cpu_ns, 75'000);
  EXPECT_EQ(row_.evidence_start_ns, 110'000);
}
TEST_F(GapTest, IgnoresUnrecordedScheduling) {
  gap(launch(190, 195));
  schedule("run_queue", 10, 20);
  schedule("run", 20, 30);
  schedule("run", 188, 250);  // another window
  EXPECT_EQ(cause(), "queue_empty");
  EXPECT_FALSE(row_.host_run_queue_ns.has_value());
  schedule("off_cpu", INT64_MAX / 1000, 0);
  schedule("irq", 100, 190);
  EXPECT_EQ(cause(), "queue_empty");
}
TEST_F(GapTest, CopySetup) {
  gap(launch(90, 195, true));
  EXPECT_EQ(cause(), "copy");
}
TEST_F(GapTest, EarlyQueuedButLateIsUnknown) {
  gap(launch(10, 20));
  EXPECT_EQ(cause(), "unknown");
}
TEST_F(GapTest, NoCauseInventedWithoutLaunch) {
  gap(std::nullopt);
  call("cpu_op", "aten::index", 90, 210);
  EXPECT_EQ(cause(), "unknown");
}
TEST_F(GapTest, SynchronisationExplainsGapWithoutLaunch) {
  gap(std::nullopt);
  call("hip", "hipStreamSynchronize", 90, 210);
  EXPECT_EQ(cause(), "synchronisation");
}
TEST_F(GapTest, IgnoresAnnotationsAndZeroLengthCalls) {
  gap(launch(190, 195));
  call("annotation", "step", 0, 300);
  call("cpu_op", "aten::x", 150, 150);
  call("cpu_op", "ProfilerStep#3", 0, 300);
  EXPECT_EQ(cause(), "queue_empty");
}
TEST_F(GapTest, IgnoresOtherRanks) {
  gap(launch(190, 195));
  gap_.rank = 1;
  call("cpu_op", "aten::index", 90, 185);
  EXPECT_EQ(cause(), "queue_empty");
}
TEST_F(GapTest, ForgetsEndedCalls) {
  gap(launch(190, 195));
  for (int i = 0; i < 1000; ++i) call("cpu_op", "aten::early", 50, 99);
  EXPECT_EQ(explainer_.calls_kept(), 0u);
  call("cpu_op", "aten::index", 90, 185);
  EXPECT_EQ(explainer_.calls_kept(), 1u);
  explainer_.still_idle({{0, 190'000}});
  EXPECT_EQ(explainer_.calls_kept(), 0u);
}
// A device that never works again would keep every call: in a long gap only long calls count.
TEST_F(GapTest, LongGapDropsShortCalls) {
  explainer_.still_idle({{0, 0}});
  for (std::int64_t i = 0; i < 200'000; ++i) call("cpu_op", "aten::tiny", 10 * i, 10 * i + 5);
  call("cpu_op", "aten::giant", 100, 2'000'000);
  EXPECT_LE(explainer_.calls_kept(), 8192u);
  gap_ = {0, 0, 0, 2'000'000'000, {}, {}, NextLaunch{1'999'999'000, 1'999'999'500, 1, {}, false, false}};
  EXPECT_EQ(cause(), "host_late");
  EXPECT_EQ(evidence_, "aten::giant");
}

}  // namespace
}  // namespace aaco::analytics::gaps
