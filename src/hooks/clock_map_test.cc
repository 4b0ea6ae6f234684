#include "hooks/clock_map.h"

#include <gtest/gtest.h>

namespace aaco::hooks {
namespace {

ClockMap two() {
  ClockMap map;
  map.add(1000, 5000);
  map.add(3000, 6000);
  return map;
}

TEST(ClockMap, IsLinearBetweenPairs) { EXPECT_EQ(two().to_ns(2000), 5500); }
TEST(ClockMap, PairsAreExact) {
  EXPECT_EQ(two().to_ns(1000), 5000);
  EXPECT_EQ(two().to_ns(3000), 6000);
}
TEST(ClockMap, ContinuesBeforeAndAfter) {
  EXPECT_EQ(two().to_ns(0), 4500);
  EXPECT_EQ(two().to_ns(5000), 7000);
}
TEST(ClockMap, FollowsAChangeOfRate) {
  ClockMap map = two();
  map.add(4000, 8000);
  EXPECT_EQ(map.to_ns(2000), 5500);
  EXPECT_EQ(map.to_ns(3500), 7000);
}
TEST(ClockMap, OnePairIsNotEnough) {
  ClockMap map;
  EXPECT_FALSE(map.usable());
  map.add(1, 1);
  EXPECT_FALSE(map.usable());
}
TEST(ClockMap, IgnoresPairsThatDoNotAdvance) {
  ClockMap map = two();
  map.add(3000, 9000);
  map.add(2000, 9000);
  map.add(4000, 6000);
  EXPECT_EQ(map.to_ns(3000), 6000);
  EXPECT_EQ(map.to_ns(5000), 7000);
}
TEST(ClockMap, ForgetsTheOldest) {
  ClockMap map;
  for (std::uint64_t i = 1; i <= ClockMap::kMax + 100; ++i) map.add(i, static_cast<std::int64_t>(2 * i));
  EXPECT_EQ(map.to_ns(4000), 8000);
}

}  // namespace
}  // namespace aaco::hooks
