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
  std::string cause() {
    const auto explained = explainer_.explain(gap_);
    evidence_ = names_.text(explained.row.evidence);
    EXPECT_EQ(names_.text(explained.row.cause), to_string(explained.cause));
    return std::string(to_string(explained.cause));
  }
  trace::NameTable names_;
  GapExplainer explainer_{names_};
  Gap gap_;
  std::string evidence_;
};

TEST_F(GapTest, TheHostWasBusyElsewhere) {
  gap(launch(190, 195));
  call("cpu_op", "aten::index", 90, 185);
  EXPECT_EQ(cause(), "host_late");
  EXPECT_EQ(evidence_, "aten::index");
}
TEST_F(GapTest, TheHostDidNothingThatWasTraced) {
  gap(launch(190, 195));
  EXPECT_EQ(cause(), "queue_empty");
}
TEST_F(GapTest, ACallAtNoTimeOfATraceSaysNothing) {
  gap(launch(190, 195));
  call("cpu_op", "aten::index", -9'000'000'000'000'000, 9'000'000'000'000'000);
  EXPECT_EQ(cause(), "queue_empty");
}
TEST_F(GapTest, AnotherThreadIsNoExcuse) {
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
TEST_F(GapTest, ASynchronisationLongBeforeIsNone) {
  gap(launch(190, 195));
  call("hip", "hipDeviceSynchronize", 10, 99);
  EXPECT_EQ(cause(), "queue_empty");
}
TEST_F(GapTest, ABlockingCopyHeldTheHost) {
  gap(launch(190, 195));
  call("cuda_runtime", "cudaMemcpy", 95, 180);
  EXPECT_EQ(cause(), "copy");
}
TEST_F(GapTest, TheLaunchItselfTookTheTime) {
  gap(launch(90, 195));
  EXPECT_EQ(cause(), "launch_latency");
}
TEST_F(GapTest, LaunchedEarlyInTheGapAndStartedSoon) {
  gap(launch(110, 160));
  EXPECT_EQ(cause(), "launch_latency");
}
TEST_F(GapTest, LaunchedEarlyAndHeldIsNotKnown) {
  gap(launch(110, 120));
  EXPECT_EQ(cause(), "unknown");
}
TEST_F(GapTest, AStreamThatWasToldToWait) {
  gap(launch(110, 120));
  call("hip", "hipStreamWaitEvent", 104, 108);
  EXPECT_EQ(cause(), "synchronisation");
  EXPECT_EQ(evidence_, "hipStreamWaitEvent");
}
TEST_F(GapTest, AWaitBeforeTheGapHoldsAQueuedLaunch) {
  call("cuda_runtime", "cudaStreamWaitEvent", 5, 8);
  gap(launch(10, 20));
  EXPECT_EQ(cause(), "synchronisation");
}
TEST_F(GapTest, AWaitOfAnotherThreadOrLongBeforeIsNone) {
  call("cuda_runtime", "cudaStreamWaitEvent", 5, 8, 2);
  call("cuda_runtime", "cudaStreamWaitEvent", -500, -495);
  gap(launch(10, 20));
  EXPECT_EQ(cause(), "unknown");
}
TEST_F(GapTest, ACopyThatIsSetUp) {
  gap(launch(90, 195, true));
  EXPECT_EQ(cause(), "copy");
}
TEST_F(GapTest, QueuedLongAgoAndStillLateIsNotKnown) {
  gap(launch(10, 20));
  EXPECT_EQ(cause(), "unknown");
}
TEST_F(GapTest, WithoutALaunchNothingIsInvented) {
  gap(std::nullopt);
  call("cpu_op", "aten::index", 90, 210);
  EXPECT_EQ(cause(), "unknown");
}
TEST_F(GapTest, WithoutALaunchASynchronisationStillSays) {
  gap(std::nullopt);
  call("hip", "hipStreamSynchronize", 90, 210);
  EXPECT_EQ(cause(), "synchronisation");
}
TEST_F(GapTest, AnnotationsAndCallsOfNoLengthSayNothing) {
  gap(launch(190, 195));
  call("annotation", "step", 0, 300);
  call("cpu_op", "aten::x", 150, 150);
  call("cpu_op", "ProfilerStep#3", 0, 300);
  EXPECT_EQ(cause(), "queue_empty");
}
TEST_F(GapTest, OtherRanksSayNothing) {
  gap(launch(190, 195));
  gap_.rank = 1;
  call("cpu_op", "aten::index", 90, 185);
  EXPECT_EQ(cause(), "queue_empty");
}
TEST_F(GapTest, CallsThatEndedBeforeAreForgotten) {
  gap(launch(190, 195));
  for (int i = 0; i < 1000; ++i) call("cpu_op", "aten::early", 50, 99);
  EXPECT_EQ(explainer_.calls_kept(), 0u);
  call("cpu_op", "aten::index", 90, 185);
  EXPECT_EQ(explainer_.calls_kept(), 1u);
  explainer_.still_idle({{0, 190'000}});
  EXPECT_EQ(explainer_.calls_kept(), 0u);
}
// A device that never works again would keep every call: in a long gap only long calls count.
TEST_F(GapTest, ALongGapKeepsNoShortCalls) {
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
