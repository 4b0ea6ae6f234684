#include "workflows/gpu/rank_times.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

analytics::trace_time::DeviceTime device(std::int64_t span_ns, std::int64_t idle_ns) {
  analytics::trace_time::DeviceTime time;
  time.span_ns = span_ns;
  time.idle_ns = idle_ns;
  return time;
}

TEST(RankTimes, DevicesOfARankAreAddedUp) {
  RankTimes ranks;
  add_device(ranks, 1, device(100, 10));
  add_device(ranks, 1, device(80, 20));
  add_device(ranks, 0, device(50, 5));
  const auto list = with_steps(ranks, {{1, 4}}, {{1, 100}});
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[1].span_ns, 100);
  EXPECT_EQ(list[1].idle_ns, 30);
  EXPECT_EQ(list[1].step_mean_ns, 25);
}
TEST(RankTimes, NoStepsNoMean) {
  RankTimes ranks;
  add_device(ranks, 0, device(50, 5));
  EXPECT_FALSE(with_steps(ranks, {}, {})[0].step_mean_ns);
  EXPECT_FALSE(with_steps(ranks, {{0, 0}}, {{0, 0}})[0].step_mean_ns);
}
TEST(RankTimes, NoDevicesNoRanks) { EXPECT_TRUE(with_steps({}, {{0, 1}}, {{0, 1}}).empty()); }

}  // namespace
}  // namespace aaco::workflows
