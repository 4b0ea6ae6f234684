#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "analytics/trace_time.h"
#include "core/random.h"

namespace aaco::analytics::trace_time {
namespace {

constexpr WorkKind kCompute = WorkKind::compute;
constexpr WorkKind kCollective = WorkKind::collective;
constexpr WorkKind kCopy = WorkKind::copy;
constexpr WorkKind kMemset = WorkKind::memset;

Work work(WorkKind kind, std::int64_t start, std::int64_t end, std::int64_t stream = 0) {
  return {kind, {0, stream}, start, end, LaunchSpan{start - 10, start - 5}};
}
Work orphan(std::int64_t start, std::int64_t end) { return {kCompute, {}, start, end, std::nullopt}; }

DeviceTime time_of(std::vector<Work> list, Convention convention = {}) {
  std::stable_sort(list.begin(), list.end(), [](const Work& a, const Work& b) { return a.start_ns < b.start_ns; });
  DeviceTimeFold fold(convention);
  for (const Work& one : list) fold.add(one);
  return fold.finish();
}

TEST(DeviceTime, OverlapCountsOnce) {
  const auto time = time_of({work(kCompute, 0, 10), work(kCompute, 5, 15, 1)});
  EXPECT_EQ(time.kernel_sum_ns, 20);
  EXPECT_EQ(time.busy_ns, 15);
  EXPECT_EQ(time.streams.at({0, 1}).busy_ns, 10);
}
TEST(DeviceTime, StreamsOfTwoProcessesAreApart) {
  const auto time = time_of({{kCompute, {0, 7}, 0, 10, std::nullopt}, {kCompute, {1, 7}, 5, 25, std::nullopt}});
  EXPECT_EQ(time.streams.at({0, 7}).busy_ns, 10);
  EXPECT_EQ(time.streams.at({1, 7}).busy_ns, 20);
  EXPECT_EQ(time.busy_ns, 25);
}
TEST(DeviceTime, IdleIsTheRemainder) {
  const auto time = time_of({work(kCompute, 0, 10), work(kCopy, 30, 40)});
  EXPECT_EQ(time.span_ns, 40);
  EXPECT_EQ(time.idle_ns, 20);
  EXPECT_EQ(time.active_ns, 10);
}
TEST(DeviceTime, ExposedIsNotOverlappedByCompute) {
  const auto time = time_of({work(kCompute, 0, 10), work(kCopy, 5, 20, 1), work(kCollective, 8, 30, 2)});
  EXPECT_EQ(time.exposed_copy_ns, 10);
  EXPECT_EQ(time.exposed_collective_ns, 20);
  EXPECT_EQ(time.compute_ns, 10);
  EXPECT_EQ(time.collective_sum_ns, 22);
  EXPECT_EQ(time.active_ns, 30);
}
TEST(DeviceTime, AdjacentWorkLeavesNoGap) { EXPECT_EQ(time_of({work(kCompute, 0, 10), work(kCompute, 10, 20)}).idle_ns, 0); }
TEST(DeviceTime, NoWorkYieldsZeroTime) { EXPECT_EQ(time_of({}), DeviceTime()); }
TEST(DeviceTime, ZeroLengthKernelsCount) {
  const auto time = time_of({work(kCompute, 5, 5), work(kCompute, 9, 9)});
  EXPECT_EQ(time.kernel_count, 2);
  EXPECT_EQ(time.busy_ns, 0);
  EXPECT_EQ(time.span_ns, 4);
  EXPECT_EQ(time.duration_bins[0], 2);
}
TEST(DeviceTime, MicrokernelsAreShorterThanTenMicroseconds) {
  EXPECT_EQ(time_of({work(kCompute, 0, 9'999), work(kCompute, 20'000, 30'000)}).microkernel_count, 1);
}
TEST(DeviceTime, OrphansByConvention) {
  const std::vector<Work> list = {work(kCompute, 0, 10), orphan(20, 30)};
  EXPECT_EQ(time_of(list).busy_ns, 20);
  EXPECT_EQ(time_of(list).orphan_count, 1);
  EXPECT_EQ(time_of(list).linked_sum_ns, 10);
  EXPECT_EQ(time_of(list, {.orphans = false}).busy_ns, 10);
  EXPECT_EQ(time_of(list, {.orphans = false}).orphan_count, 1);
}
TEST(DeviceTime, MemsetByConvention) {
  const std::vector<Work> list = {work(kCompute, 0, 10), work(kMemset, 20, 30)};
  EXPECT_EQ(time_of(list).copy_sum_ns, 10);
  EXPECT_EQ(time_of(list, {.memset = false}).busy_ns, 10);
  EXPECT_EQ(time_of(list, {.memset = false}).memset_count, 1);
}
TEST(DeviceTime, CountsAndSkipsImpossibleTimes) {
  const auto time = time_of({work(kCompute, 0, 10), work(kCompute, 20, 15), work(kCompute, INT64_MIN, INT64_MAX),
                             work(kCompute, INT64_MAX - 5, INT64_MAX), work(kCompute, INT64_MIN, INT64_MIN + 5)});
  EXPECT_EQ(time.invalid_count, 4);
  EXPECT_EQ(time.busy_ns, 10);
}
TEST(DeviceTime, OutOfOrderIsCounted) {
  DeviceTimeFold fold;
  fold.add(work(kCompute, 100, 110));
  fold.add(work(kCompute, 50, 60));
  EXPECT_EQ(fold.finish().out_of_order_count, 1);
}
TEST(DeviceTime, ReportsGapsWhenTheyEnd) {
  DeviceTimeFold fold;
  EXPECT_EQ(fold.add(work(kCompute, 0, 10)), std::nullopt);
  EXPECT_EQ(fold.add(work(kCompute, 5, 30)), std::nullopt);
  EXPECT_EQ(fold.add(work(kCopy, 40, 50)), (Idle{30, 40}));
}
TEST(DeviceTime, LaunchLossEndsAtALateLaunch) {
  DeviceTimeFold fold;
  fold.add(work(kCompute, 0, 10));
  fold.add({kCompute, {}, 40, 50, LaunchSpan{20, 30}});
  fold.add({kCompute, {}, 60, 70, LaunchSpan{21, 31}});  // queued long before
  EXPECT_EQ(fold.finish().launch_lost_ns, 30);
}

// The same by one step a nanosecond.
DeviceTime slow_path(const std::vector<Work>& list) {
  DeviceTime time;
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  for (const Work& one : list) first = std::min(first, one.start_ns), last = std::max(last, one.end_ns);
  for (std::int64_t at = first; at < last; ++at) {
    std::set<WorkKind> active;
    for (const Work& one : list)
      if (one.start_ns <= at && at < one.end_ns) active.insert(one.kind == kMemset ? kCopy : one.kind);
    const bool compute = active.contains(kCompute), copy = active.contains(kCopy), collective = active.contains(kCollective);
    time.busy_ns += active.empty() ? 0 : 1;
    time.idle_ns += active.empty() ? 1 : 0;
    time.active_ns += compute || collective ? 1 : 0;
    time.compute_ns += compute ? 1 : 0;
    time.exposed_copy_ns += copy && !compute ? 1 : 0;
    time.exposed_collective_ns += collective && !compute ? 1 : 0;
  }
  return time;
}

TEST(DeviceTime, MatchesBruteForceOnRandomTraces) {
  core::Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Work> list;
    for (int i = 0; i < 30; ++i) {
      const auto start = static_cast<std::int64_t>(random.below(300));
      list.push_back(work(static_cast<WorkKind>(random.below(4)), start, start + static_cast<std::int64_t>(random.below(25))));
    }
    const auto fast = time_of(list);
    const auto slow = slow_path(list);
    EXPECT_EQ(fast.busy_ns, slow.busy_ns);
    EXPECT_EQ(fast.idle_ns, slow.idle_ns);
    EXPECT_EQ(fast.active_ns, slow.active_ns);
    EXPECT_EQ(fast.compute_ns, slow.compute_ns);
    EXPECT_EQ(fast.exposed_copy_ns, slow.exposed_copy_ns);
    EXPECT_EQ(fast.exposed_collective_ns, slow.exposed_collective_ns);
    EXPECT_EQ(fast.busy_ns + fast.idle_ns, fast.span_ns);
  }
}

TEST(DeviceMetrics, RatiosNeedADenominator) {
  const auto metrics = device_metrics(DeviceTime(), 3, true);
  EXPECT_EQ(trace::find_metric(metrics, "gpu.active_ratio"), nullptr);
  EXPECT_EQ(trace::find_metric(metrics, "launch.tax"), nullptr);
  ASSERT_NE(trace::find_metric(metrics, "gpu.busy_ns", 3), nullptr);
}
TEST(DeviceMetrics, LaunchTaxIsMicrokernelShareTimesRate) {
  const auto metrics = device_metrics(time_of({work(kCompute, 0, 500'000), work(kCompute, 999'000, 1'000'000)}), 0, true);
  EXPECT_DOUBLE_EQ(trace::find_metric(metrics, "gpu.microkernel_ratio")->value, 0.5);
  EXPECT_DOUBLE_EQ(trace::find_metric(metrics, "launch.tax")->value, 0.5 * 2000 / 1000);
  EXPECT_DOUBLE_EQ(trace::find_metric(metrics, "gpu.active_ratio")->value, 0.501);
}

}  // namespace
}  // namespace aaco::analytics::trace_time
