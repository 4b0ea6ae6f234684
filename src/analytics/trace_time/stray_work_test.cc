#include "analytics/stray_work.h"

#include <gtest/gtest.h>

namespace aaco::analytics::trace_time {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// `before` pieces, then 20 s without work in a span of 21 s, then the others of `work_count`.
DeviceTime device(std::int64_t work_count, std::int64_t before) {
  DeviceTime time;
  time.work_count = work_count;
  time.work_before_longest_idle = before;
  time.longest_idle_ns = 20 * kSecond;
  time.span_ns = 21 * kSecond;
  return time;
}

TEST(StrayWork, OnePieceFarFromTheOthers) {
  EXPECT_EQ(stray_work(device(50, 1)), (StrayWork{1, 50, 20 * kSecond, true}));
  EXPECT_EQ(stray_work(device(50, 49)), (StrayWork{1, 50, 20 * kSecond, false}));
}

TEST(StrayWork, AtMostOneInAHundred) {
  EXPECT_TRUE(stray_work(device(1000, 10)));
  EXPECT_FALSE(stray_work(device(1000, 11)));
  EXPECT_FALSE(stray_work(device(50, 2)));
  EXPECT_FALSE(stray_work(device(1000, 500))) << "two halves are two runs, not stray work";
}

TEST(StrayWork, TwoPiecesAreNotMany) {
  EXPECT_FALSE(stray_work(device(2, 1)));
  EXPECT_TRUE(stray_work(device(3, 1)));
  EXPECT_FALSE(stray_work(DeviceTime()));
}

TEST(StrayWork, AShortIdleTimeIsNotFar) {
  DeviceTime time = device(50, 1);
  time.longest_idle_ns = kStrayIdleNs;
  time.span_ns = kStrayIdleNs + 1;
  EXPECT_TRUE(stray_work(time));
  time.longest_idle_ns = kStrayIdleNs - 1;
  EXPECT_FALSE(stray_work(time));
}

TEST(StrayWork, IdleTimeWithinALongRunIsNotFar) {
  DeviceTime time = device(50, 1);
  time.span_ns = 22 * kSecond;
  EXPECT_TRUE(stray_work(time));
  time.span_ns = 23 * kSecond;
  EXPECT_FALSE(stray_work(time)) << "20 s of 23 s";
}

}  // namespace
}  // namespace aaco::analytics::trace_time
