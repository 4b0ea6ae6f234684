#include "analytics/gaps/named_gap_testing.h"

namespace aaco::analytics::gaps {
namespace {

constexpr const char* kGet = "queue.py(154): get";
constexpr const char* kLock = "<method 'acquire' of '_thread.lock' objects>";
constexpr const char* kDecode = "PIL/ImageFile.py(280): load";

class OtherThreadsTest : public NamedGapTest {
 public:
  OtherThreadsTest& waits(double until_ms = 10.5) {
    launch(10.9, 10.95).call("python", kGet, 1, until_ms).call("python", kLock, 1.05, until_ms);
    return *this;
  }
};

TEST_F(OtherThreadsTest, WhatTheAwaitedThreadDidIsTheCause) {
  waits().call("python", kDecode, 1.1, 10.4, 2);
  EXPECT_EQ(cause(), "data-loading");
  EXPECT_EQ(evidence(), kDecode);
}
TEST_F(OtherThreadsTest, NestedFramesCountOnce) {
  waits().call("python", "torchvision/transforms/transforms.py(95): __call__", 5, 10.4, 2).call("python", kDecode, 5.1, 10.3, 2);
  EXPECT_EQ(cause(), "data-loading");
  EXPECT_NEAR(static_cast<double>(explained_.row.host_cause_ns.value_or(0)), 9.5e6, 0.2e6);
}
TEST_F(OtherThreadsTest, ShortWorkIsNotAwaited) { EXPECT_EQ(waits().call("python", kDecode, 8, 10.4, 2).cause(), "event-wait"); }
TEST_F(OtherThreadsTest, WorkThatContinuesIsNotAwaited) {
  EXPECT_EQ(waits().call("python", kDecode, 1, 14, 2).cause(), "event-wait");
}
TEST_F(OtherThreadsTest, WorkThatEndedBeforeIsNotAwaited) {
  EXPECT_EQ(waits().call("python", kDecode, 1, 8, 2).cause(), "event-wait");
}
TEST_F(OtherThreadsTest, AnotherWaitExplainsNothing) {
  EXPECT_EQ(waits().call("python", kLock, 1, 10.4, 2).cause(), "event-wait");
}
TEST_F(OtherThreadsTest, ASleepingThreadExplainsNothing) {
  EXPECT_EQ(waits().call("python", "<built-in function sleep>", 1, 10.4, 2).cause(), "event-wait");
}
constexpr const char* kQuiet = "(no Python frame recorded)";

TEST_F(OtherThreadsTest, ASilenceOfTheProfilerIsNotTheCodeAroundIt) {
  launch(10.9, 10.95).call("python", "train.py(40): main", 0, 30).call("python", kQuiet, 1.1, 10.8);
  EXPECT_EQ(cause(), "unknown");
}
TEST_F(OtherThreadsTest, ASilenceWithinAKnownEventIsThatEvent) {
  for (const char* name : {kDecode, kGet, "requests/sessions.py(589): request", "mujoco/bindings.py(88): mj_step"}) {
    SCOPED_TRACE(name);
    SetUp();
    launch(10.9, 10.95)
        .call("python", "train.py(40): main", 0, 30)
        .call("python", name, 1, 10.8)
        .call("python", kQuiet, 1.1, 10.7);
    EXPECT_NE(cause(), "unknown");
  }
}
TEST_F(OtherThreadsTest, AThreadThatDoesNotWaitIsItsOwnCause) {
  launch(10.9, 10.95).call("python", "<built-in function collect>", 1, 10.5).call("python", kDecode, 1.1, 10.4, 2);
  EXPECT_EQ(cause(), "gc");
}

}  // namespace
}  // namespace aaco::analytics::gaps
