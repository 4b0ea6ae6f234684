#include "analytics/timeline.h"

#include <gtest/gtest.h>

namespace aaco::analytics::trace_time {
namespace {

// An ordinary trace of one process.
TimelineFacts ordinary() {
  TimelineFacts facts;
  facts.kernel_count = 1000;
  facts.collective_count = 10;
  facts.launch_count = 1000;
  facts.has_host_events = true;
  facts.id_pairs = 999;
  facts.id_falls = 20;
  facts.idle_ratio = 0.6;
  facts.ranks = {{0, 100}};
  return facts;
}
TimelineFacts kernels_only() {
  TimelineFacts facts = ordinary();
  facts.has_host_events = false;
  facts.launch_count = 0;
  return facts;
}
std::string reason(const TimelineFacts& facts) {
  const auto found = why_no_timeline(facts);
  return found ? found->reason : "";
}

TEST(Timeline, OrdinaryTraceHasOne) { EXPECT_EQ(reason(ordinary()), ""); }
TEST(Timeline, ACutThatLosesKernels) {
  auto facts = ordinary();
  facts.is_cut = true;
  facts.linked_count = 1000;
  EXPECT_EQ(reason(facts), "");
  facts.launch_count = 1500;
  EXPECT_EQ(reason(facts), "cut-file");
  facts.is_cut = false;
  EXPECT_EQ(reason(facts), "") << "a whole file: its launches were captured or not traced";
}
TEST(Timeline, ACutThatLosesLaunches) {
  auto facts = ordinary();
  facts.is_cut = true;
  facts.linked_count = 700;
  EXPECT_EQ(reason(facts), "cut-file");
  facts.linked_count = 0;
  EXPECT_EQ(reason(facts), "") << "this format links none";
}
TEST(Timeline, HolesInTheRecordingThatMatter) {
  auto facts = ordinary();
  facts.holes = {{0, 10, 90, 4, 45}};
  facts.hole_ratio = 0.8;
  EXPECT_EQ(reason(facts), "separate-windows");
  facts.hole_ratio = 0.01;
  EXPECT_EQ(reason(facts), "");
}
TEST(Timeline, NothingRanNothingToSay) { EXPECT_EQ(reason(TimelineFacts()), ""); }
TEST(Timeline, IdleKernelsWithoutHostEvents) { EXPECT_EQ(reason(kernels_only()), "kernels-only"); }
TEST(Timeline, BusyKernelsWithoutHostEventsHaveOne) {
  auto facts = kernels_only();
  facts.idle_ratio = 0.05;
  EXPECT_EQ(reason(facts), "");
}
TEST(Timeline, CollectivesOnly) {
  auto facts = kernels_only();
  facts.collective_count = facts.kernel_count;
  EXPECT_EQ(reason(facts), "collectives-only");
}
TEST(Timeline, CopiesAloneAreNamed) {
  TimelineFacts facts;
  facts.copy_count = 4;
  EXPECT_EQ(reason(facts), "copies-only");
  facts.has_host_events = true;
  EXPECT_EQ(reason(facts), "") << "the host's calls say what it did between them";
}
TEST(Timeline, CollectivesWithHostEventsHaveOne) {
  auto facts = ordinary();
  facts.collective_count = facts.kernel_count;
  EXPECT_EQ(reason(facts), "");
}
TEST(Timeline, WindowsOfOneProcessAreOneRun) {
  auto facts = ordinary();
  facts.ranks = {{0, 100}, {5000, 5100}};
  facts.one_process = true;
  EXPECT_EQ(reason(facts), "separate-windows");
  EXPECT_TRUE(is_unknown_without(*why_no_timeline(facts), "launch.rate_per_second"));
  facts.ranks = {{0, 100}, {50, 150}};
  EXPECT_EQ(reason(facts), "") << "at the same time they are ranks whose process numbers are equal";
}
TEST(Timeline, CounterPass) {
  auto facts = ordinary();
  facts.counted_dispatch_count = 1000;
  EXPECT_EQ(reason(facts), "counter-pass");
}
TEST(Timeline, CountersOfFewKernelsLeaveOne) {
  auto facts = ordinary();
  facts.counted_dispatch_count = 3;
  EXPECT_EQ(reason(facts), "");
}
TEST(Timeline, MergedRunsByTheirIds) {
  auto facts = kernels_only();
  facts.id_falls = 450;
  EXPECT_EQ(reason(facts), "merged-runs");
}
TEST(Timeline, FallingIdsOfOneProcessWithHostEventsLeaveOne) {
  auto facts = ordinary();
  facts.id_falls = 450;
  EXPECT_EQ(reason(facts), "");
}
TEST(Timeline, SeparateRunsAreNoRanks) {
  auto facts = ordinary();
  facts.collective_count = 0;
  facts.ranks = {{200, 300}, {0, 100}, {100, 180}};
  EXPECT_EQ(reason(facts), "merged-runs");
}
TEST(Timeline, RanksThatCommunicateMayHaveOtherClocks) {
  auto facts = ordinary();
  facts.ranks = {{200, 300}, {0, 100}};
  EXPECT_EQ(reason(facts), "");
}
TEST(Timeline, RanksOfOneJobOverlap) {
  auto facts = ordinary();
  facts.collective_count = 0;
  facts.ranks = {{0, 100}, {1, 99}, {500, 600}};
  EXPECT_EQ(reason(facts), "");
}
TEST(Timeline, RecordedGraph) {
  auto facts = ordinary();
  facts.kernel_count = 7;
  facts.has_captures = true;
  EXPECT_EQ(reason(facts), "graph-capture");
}
TEST(Timeline, CaptureFollowedByReplaysHasOne) {
  auto facts = ordinary();
  facts.has_captures = true;
  EXPECT_EQ(reason(facts), "");
}
TEST(Timeline, IdsAreComparedWithinADevice) {
  IdOrder order;
  trace::KernelRow row;
  for (const auto& [device, id] : {std::pair(0, 5), {1, 3}, {0, 6}, {1, 2}, {0, 0}}) {
    row.device = device;
    row.dispatch_id = static_cast<std::uint64_t>(id);
    order.add(row);
  }
  TimelineFacts facts;
  order.fill(facts);
  EXPECT_EQ(facts.id_pairs, 2);
  EXPECT_EQ(facts.id_falls, 1);
}

TEST(Timeline, ProcessesThatBeginAgainAreSeparateRuns) {
  constexpr std::int64_t kHourNs = 3'600'000'000'000;
  TimelineFacts facts;
  facts.kernel_count = 100;
  facts.has_host_events = true;
  facts.processes = {{kHourNs, kHourNs + 1000}, {0, 1000}};
  const auto none = why_no_timeline(facts);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->reason, "merged-runs");
  facts.processes = {{0, 1000}, {500, kHourNs + 10}, {kHourNs, kHourNs + 1000}};
  EXPECT_FALSE(why_no_timeline(facts)) << "one lasts until the next";
  facts.processes = {{0, 1000}, {2000, 3000}};
  EXPECT_FALSE(why_no_timeline(facts)) << "a helper that began a little later";
  facts.processes = {{0, 1000}};
  EXPECT_FALSE(why_no_timeline(facts));
}

TEST(Timeline, LaunchRatesNeedKernelsAsTheyWereLaunched) {
  EXPECT_TRUE(is_unknown_without({"counter-pass", ""}, "launch.tax"));
  EXPECT_TRUE(is_unknown_without({"merged-runs", ""}, "launch.rate_per_second"));
  EXPECT_FALSE(is_unknown_without({"counter-pass", ""}, "gpu.kernel_sum_ns"));
  EXPECT_FALSE(is_unknown_without({"kernels-only", ""}, "launch.tax"));
}

}  // namespace
}  // namespace aaco::analytics::trace_time
