#include "analytics/gaps.h"

#include <gtest/gtest.h>

namespace aaco::analytics::gaps {
namespace {

class GapTest : public testing::Test {
 protected:
  // A gap from 100 to 200 us.
  void gap(std::optional<NextLaunch> launch) {
    explainer_.add_gap({0, 0, 100'000, 200'000, names_.intern("before"), names_.intern("after"), launch});
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
    const auto rows = explainer_.finish();
    EXPECT_EQ(rows.size(), 1u);
    if (rows.empty()) return "no row";
    evidence_ = names_.text(rows[0].evidence);
    return std::string(names_.text(rows[0].cause));
  }
  trace::NameTable names_;
  GapExplainer explainer_{names_};
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
TEST_F(GapTest, LaunchedEarlyInTheGap) {
  gap(launch(110, 120));
  EXPECT_EQ(cause(), "launch_latency");
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
TEST_F(GapTest, SumsByCause) {
  gap(launch(90, 195));
  const auto sums = sum_by_cause(explainer_.finish(), names_);
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums.at(Cause::launch_latency).idle_ns, 100'000);
}

}  // namespace
}  // namespace aaco::analytics::gaps
