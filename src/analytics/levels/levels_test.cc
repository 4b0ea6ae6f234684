#include "analytics/levels.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace aaco::analytics::levels {
namespace {

struct Row {
  Track track;
  std::int64_t resolution_ns;
  Segment segment;
};

std::vector<Row> fold(const std::vector<Segment>& events, std::vector<std::int64_t> resolutions, const Track& track = {}) {
  std::vector<Row> rows;
  LevelFold levels(std::move(resolutions), [&](const Track& of, std::int64_t resolution, const Segment& segment) {
    rows.push_back({of, resolution, segment});
  });
  for (const Segment& event : events) levels.add(track, event);
  levels.finish();
  return rows;
}

Segment event(std::int64_t start, std::int64_t end, std::uint32_t name = 1) { return single(start, end, {name}); }

TEST(LevelFold, ShortNeighboursShareARow) {
  const auto rows = fold({event(0, 10, 1), event(20, 50, 2), event(60, 65, 3)}, {100});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].segment, (Segment{0, 65, 45, 3, {2}, 20, 30, 0, {}}));
}
TEST(LevelFold, LongEventsStandAlone) {
  const auto rows = fold({event(0, 10), event(10, 110), event(110, 120)}, {100});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1].segment.event_count, 1);
}
TEST(LevelFold, BinsAreNotMerged) { EXPECT_EQ(fold({event(0, 10), event(100, 110)}, {100}).size(), 2U); }
TEST(LevelFold, BinsBeforeZeroAreNotMergedWithThoseAfter) { EXPECT_EQ(fold({event(-10, -5), event(5, 10)}, {100}).size(), 2U); }
TEST(LevelFold, NoEventsYieldNoRows) { EXPECT_TRUE(fold({}, {100, 400}).empty()); }
TEST(LevelFold, NoResolutionsYieldNoRows) { EXPECT_TRUE(fold({event(0, 10)}, {}).empty()); }
TEST(LevelFold, OverlapIsBusyOnce) { EXPECT_EQ(fold({event(0, 50), event(20, 60)}, {100})[0].segment.busy_ns, 60); }
TEST(LevelFold, TracksAreApart) {
  int rows = 0;
  LevelFold levels({100}, [&](const Track&, std::int64_t, const Segment&) { ++rows; });
  levels.add(Track{.lane = 1}, event(0, 1));
  levels.add(Track{.lane = 2}, event(1, 2));
  levels.finish();
  EXPECT_EQ(rows, 2);
}
TEST(LevelFold, EveryResolutionHasAllEventsAndTheirTime) {
  std::mt19937_64 random(7);
  std::vector<Segment> events;
  std::int64_t at = 0, busy = 0;
  for (int i = 0; i < 20'000; ++i) {
    at += static_cast<std::int64_t>(random() % 200);
    const auto length = static_cast<std::int64_t>(random() % 500 == 0 ? 20'000 : random() % 100);
    events.push_back(event(at, at + length));
    at += length, busy += length;
  }
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> sums;
  std::map<std::int64_t, std::int64_t> rows;
  for (const Row& row : fold(events, {256, 1024, 4096, 16384})) {
    sums[row.resolution_ns].first += row.segment.event_count;
    sums[row.resolution_ns].second += row.segment.busy_ns;
    ++rows[row.resolution_ns];
    EXPECT_LE(row.segment.busy_ns, row.segment.end_ns - row.segment.start_ns);
  }
  for (const auto& [resolution, sum] : sums) {
    EXPECT_EQ(sum, std::pair(std::int64_t{20'000}, busy));
    EXPECT_LE(rows[resolution], 3 * (at / resolution + 1));
  }
}

TEST(Plan, SmallTracesNeedNone) { EXPECT_TRUE(plan_levels(kFewEvents - 1, 1'000'000'000).empty()); }
TEST(Plan, TracesWithoutTimeNeedNone) { EXPECT_TRUE(plan_levels(1'000'000, 0).empty()); }
TEST(Plan, RowsStayFewerThanEvents) {
  const Plan plan = plan_levels(100'000'000, 1'000'000'000'000);
  EXPECT_GE(kStep * plan.finest_ns, 1'000'000'000'000 / 100'000'000 * kEventsPerBin);
  EXPECT_LE(plan.coarsest_ns, 1'000'000'000'000 / kOverviewBins);
  EXPECT_GE(plan.resolutions().size(), 4U);
}
TEST(Plan, TheWholeTraceIsDrawnWithoutItsEvents) {
  for (const std::int64_t events : {kFewEvents, std::int64_t{750'000}, std::int64_t{100'000'000}})
    EXPECT_GT(plan_levels(events, 3'700'000'000).best(3'700'000'000 / kPixels), 0);
}
TEST(Plan, FindsTheCoarsestThatIsFineEnough) {
  const Plan plan{64, 1024};
  EXPECT_EQ(plan.best(63), 0);
  EXPECT_EQ(plan.best(64), 64);
  EXPECT_EQ(plan.best(1023), 256);
  EXPECT_EQ(plan.best(1'000'000), 1024);
}
TEST(Plan, AnEmptyPlanReadsEvents) { EXPECT_EQ((Plan{}).best(1'000'000), 0); }

TEST(DepthBook, NestedCallsAreBelowEachOther) {
  DepthBook book;
  const Track lane{.kind = Kind::operators};
  EXPECT_EQ(book.place(lane, 0, 100), 0);
  EXPECT_EQ(book.place(lane, 10, 50), 1);
  EXPECT_EQ(book.place(lane, 20, 30), 2);
  EXPECT_EQ(book.place(lane, 60, 70), 1);
  EXPECT_EQ(book.place(lane, 100, 120), 0);
}
TEST(DepthBook, KernelsTakeTheFirstFreeRow) {
  DepthBook book;
  const Track lane{.kind = Kind::kernel};
  EXPECT_EQ(book.place(lane, 0, 100), 0);
  EXPECT_EQ(book.place(lane, 10, 50), 1);
  EXPECT_EQ(book.place(lane, 60, 70), 1);
  EXPECT_EQ(book.place(lane, 100, 120), 0);
}
TEST(DepthBook, DepthIsBounded) {
  DepthBook book;
  std::int64_t deepest = 0;
  for (int i = 0; i < 1000; ++i) deepest = book.place({.kind = Kind::python}, i, 10'000 - i);
  EXPECT_EQ(deepest, DepthBook::kMaxDepth - 1);
  for (int i = 0; i < 100; ++i) deepest = book.place({.kind = Kind::kernel}, i, 10'000 - i);
  EXPECT_EQ(deepest, DepthBook::kMaxOverlap - 1);
}
TEST(DepthBook, SeedsGiveCallsTheirDepth) {
  DepthBook book;
  book.seed({.kind = Kind::python, .depth = 2}, 1000);
  EXPECT_EQ(book.place({.kind = Kind::python}, 10, 20), 3);
}

TEST(HostKind, TellsLaunchesFromOtherCalls) {
  EXPECT_EQ(host_kind("hip", "hipLaunchKernel"), Kind::launch);
  EXPECT_EQ(host_kind("cuda_runtime", "cudaGraphLaunch"), Kind::launch);
  EXPECT_EQ(host_kind("hip", "hipMemcpyAsync"), Kind::runtime);
  EXPECT_EQ(host_kind("cpu_op", "LaunchKernel"), Kind::operators);
  EXPECT_EQ(host_kind("annotation", "ProfilerStep#3"), Kind::range);
}

}  // namespace
}  // namespace aaco::analytics::levels
