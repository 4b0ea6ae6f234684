#include "workflows/optimize/search.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(SearchTimes, LongSearchesExploreForHalfTheBudget) {
  const SearchTimes times = plan_times(0, 600 * kSecond, kSecond / 10, kSecond);
  EXPECT_EQ(times.end_ns, 600 * kSecond);
  EXPECT_EQ(times.race_until_ns, 420 * kSecond);
  EXPECT_NEAR(static_cast<double>(times.explore_until_ns), 300e9, 1000);
}
TEST(SearchTimes, SlowModelsLeaveMoreForTheProof) {
  EXPECT_EQ(plan_times(0, 60 * kSecond, 5 * kSecond, kSecond).race_until_ns, (60 - 8 * 5) * kSecond - kSecond * 5 / 2);
}
TEST(SearchTimes, ShortSearchesKeepTimeForOneCheckOfOutputs) {
  const SearchTimes times = plan_times(0, 6 * kSecond, kSecond / 10, 2 * kSecond);
  EXPECT_GE(times.race_until_ns - times.explore_until_ns, 2 * kSecond * 3 / 4);
  EXPECT_GE(times.end_ns - times.race_until_ns, 8 * kSecond / 10 + kSecond * 5 / 2);
}
TEST(SearchTimes, ABudgetBelowTheLeastTimeHasNoTimeToSearch) {
  EXPECT_GT(least_time_ns(kSecond, kSecond), 8 * kSecond);
  const SearchTimes times = plan_times(0, kSecond, kSecond, kSecond);
  EXPECT_EQ(times.explore_until_ns, 0);
}
TEST(SearchTimes, LeaveTimeForTheProof) {
  const SearchTimes times = plan_times(1000, 600'000'000'000, 1'000'000'000, 1'000'000'000);
  EXPECT_NEAR(static_cast<double>(times.explore_until_ns), 300e9, 1e9);
  EXPECT_NEAR(static_cast<double>(times.race_until_ns), 420e9, 1e9);
  EXPECT_EQ(times.end_ns, 600'000'001'000);
}
TEST(SearchTimes, SlowStartsGetMoreOfIt) {
  const SearchTimes times = plan_times(0, 60'000'000'000, 2'000'000'000, 1'000'000'000);
  EXPECT_LE(times.race_until_ns, 24'000'000'000);
  EXPECT_GT(times.explore_until_ns, 0);
}

}  // namespace
}  // namespace aaco::workflows
