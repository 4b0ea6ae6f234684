#include <gtest/gtest.h>

#include "analytics/gap_causes.h"

namespace aaco::analytics::gaps {
namespace {

constexpr CauseIndex kIdle = 0, kFramework = 1, kLoader = 2, kFree = 3;

HostFrame weak(std::int64_t start, std::int64_t end) { return {start, end, kFramework, true}; }
HostFrame strong(std::int64_t start, std::int64_t end, CauseIndex cause) { return {start, end, cause, false}; }
using Shares = std::vector<HostShare>;

Shares time_of(const std::vector<HostFrame>& frames) { return host_time(frames, 100, 200, kIdle); }

TEST(HostTime, NoFrameIsIdle) { EXPECT_EQ(time_of({}), (Shares{{kIdle, 100}})); }
TEST(HostTime, EmptyIntervalHasNoShares) { EXPECT_TRUE(host_time({}, 100, 100, kIdle).empty()); }
TEST(HostTime, ReversedIntervalHasNoShares) { EXPECT_TRUE(host_time({}, 200, 100, kIdle).empty()); }
TEST(HostTime, ClipsFramesToTheInterval) { EXPECT_EQ(time_of({weak(0, 500)}), (Shares{{kFramework, 100}})); }
TEST(HostTime, IgnoresFramesOutsideTheInterval) {
  EXPECT_EQ(time_of({strong(0, 100, kFree), strong(200, 300, kFree)}), (Shares{{kIdle, 100}}));
}
TEST(HostTime, WeakFrameYieldsToTheEnclosingCause) {
  EXPECT_EQ(time_of({strong(90, 190, kLoader), weak(110, 180)}), (Shares{{kLoader, 90}, {kIdle, 10}}));
}
TEST(HostTime, InnermostCauseWins) {
  EXPECT_EQ(time_of({strong(90, 210, kLoader), weak(110, 180), strong(120, 150, kFree)}), (Shares{{kLoader, 70}, {kFree, 30}}));
}
TEST(HostTime, CauseInsideAWeakFrame) {
  EXPECT_EQ(time_of({weak(90, 210), strong(120, 180, kFree)}), (Shares{{kFree, 60}, {kFramework, 40}}));
}
TEST(HostTime, SumsFramesOfOneCause) {
  EXPECT_EQ(time_of({strong(100, 120, kFree), strong(150, 160, kFree)}), (Shares{{kIdle, 70}, {kFree, 30}}));
}
TEST(HostTime, FrameThatEndsAHairLaterIsNotAroundTheNext) {
  EXPECT_EQ(time_of({strong(50, 103, kFree), weak(102, 200)}), (Shares{{kFramework, 98}, {kFree, 2}}));
}
TEST(HostTime, FrameThatOutlivesItsParentByAHairIsInside) {
  EXPECT_EQ(time_of({strong(100, 198, kLoader), weak(102, 200)}), (Shares{{kLoader, 100}}));
}
TEST(HostTime, FrameInsideTheCauseThatItGivesWayTo) {
  HostFrame inner = strong(110, 190, kFree);
  inner.gives_way_to = kLoader;
  EXPECT_EQ(time_of({weak(100, 200), inner}), (Shares{{kFree, 80}, {kFramework, 20}}));
  HostFrame outer = weak(100, 200);
  outer.cause = kLoader;
  EXPECT_EQ(time_of({outer, inner}), (Shares{{kLoader, 100}}));
}
TEST(HostTime, OverlappingFramesAddUpToTheInterval) {
  std::int64_t sum = 0;
  for (const auto& share : time_of({strong(90, 150, kLoader), strong(120, 180, kFree), weak(170, 260)})) sum += share.time_ns;
  EXPECT_EQ(sum, 100);
}

}  // namespace
}  // namespace aaco::analytics::gaps
