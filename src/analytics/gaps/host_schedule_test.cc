#include "analytics/host_schedule.h"

#include <gtest/gtest.h>

namespace aaco::analytics::gaps {
namespace {

using State = HostSchedule::State;

TEST(HostSchedule, SumsRowsWithinTheWindow) {
  HostSchedule schedule;
  schedule.add(0, 1, State::run, 0, 100);
  schedule.add(0, 1, State::run_queue, 100, 140);
  schedule.add(0, 1, State::run, 140, 200);
  schedule.add(0, 1, State::off_cpu, 200, 300);
  const auto away = schedule.away(0, 1, 120, 250);
  ASSERT_TRUE(away.has_value());
  EXPECT_EQ(away->run_queue_ns, 20);
  EXPECT_EQ(away->off_cpu_ns, 50);
}
TEST(HostSchedule, SeparatesThreadsAndRanks) {
  HostSchedule schedule;
  schedule.add(0, 1, State::run, 0, 100);
  EXPECT_TRUE(schedule.away(0, 1, 0, 100).has_value());
  EXPECT_FALSE(schedule.away(0, 2, 0, 100).has_value());
  EXPECT_FALSE(schedule.away(1, 1, 0, 100).has_value());
}
TEST(HostSchedule, UnrecordedTimeIsUnknown) {
  HostSchedule schedule;
  schedule.add(0, 1, State::run_queue, 100, 200);
  schedule.add(0, 1, State::run, 500, 600);
  EXPECT_FALSE(schedule.away(0, 1, 0, 150).has_value());
  EXPECT_FALSE(schedule.away(0, 1, 150, 550).has_value());
  EXPECT_FALSE(schedule.away(0, 1, 700, 800).has_value());
  EXPECT_FALSE(schedule.away(0, 1, 150, 150).has_value());
  EXPECT_TRUE(schedule.away(0, 1, 105, 200).has_value());
}
TEST(HostSchedule, TimeBetweenRunsIsOffCpu) {
  HostSchedule schedule;
  EXPECT_FALSE(schedule.add(0, 1, State::run, 0, 100).has_value());
  const auto between = schedule.add(0, 1, State::run, 300, 400);
  ASSERT_TRUE(between.has_value());
  EXPECT_EQ(between->start_ns, 100);
  EXPECT_EQ(between->end_ns, 300);
  EXPECT_EQ(schedule.away(0, 1, 50, 350)->off_cpu_ns, 200);
  schedule.add(0, 1, State::run_queue, 400, 410);
  EXPECT_FALSE(schedule.add(0, 1, State::run, 500, 600).has_value());  // a recorder that tells of waits would have told
}
TEST(HostSchedule, OverlappingRowsCountOnce) {
  HostSchedule schedule;
  schedule.add(0, 1, State::run_queue, 0, 100);
  schedule.add(0, 1, State::run_queue, 50, 120);
  schedule.add(0, 1, State::run_queue, 10, 20);
  EXPECT_EQ(schedule.away(0, 1, 0, 120)->run_queue_ns, 120);
}
TEST(HostSchedule, ManyChangesStayBoundedAndAddUp) {
  HostSchedule schedule;
  constexpr std::int64_t kChanges = 100'000;
  for (std::int64_t i = 0; i < kChanges; ++i) {
    schedule.add(0, 1, State::run, 10 * i, 10 * i + 6);
    schedule.add(0, 1, State::run_queue, 10 * i + 6, 10 * i + 10);
  }
  EXPECT_LE(schedule.points(), HostSchedule::kMaxPoints);
  EXPECT_EQ(schedule.away(0, 1, 0, 10 * kChanges)->run_queue_ns, 4 * kChanges);
  EXPECT_NEAR(static_cast<double>(schedule.away(0, 1, 100'000, 600'000)->run_queue_ns), 200'000, 1000);
}
TEST(HostSchedule, ForgetsOnlyUnneededRows) {
  HostSchedule schedule;
  for (std::int64_t i = 0; i < 1000; ++i) {
    schedule.add(0, 1, State::run, 10 * i, 10 * i + 6);
    schedule.add(0, 1, State::run_queue, 10 * i + 6, 10 * i + 10);
  }
  schedule.forget_before(9'003);
  EXPECT_LT(schedule.points(), 400u);
  EXPECT_EQ(schedule.away(0, 1, 9'003, 9'503)->run_queue_ns, 200);
  schedule.forget_before(INT64_MAX);
  EXPECT_FALSE(schedule.away(0, 1, 20'000, 20'010).has_value());
}

}  // namespace
}  // namespace aaco::analytics::gaps
