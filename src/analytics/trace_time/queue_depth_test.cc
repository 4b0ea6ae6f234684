#include "analytics/queue_depth.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/random.h"

namespace aaco::analytics::trace_time {
namespace {

TEST(QueueDepth, NoKernelsHaveNoDepth) { EXPECT_EQ(QueueDepthFold().finish(), QueueDepth()); }
TEST(QueueDepth, OneKernelIsDepthOne) {
  QueueDepthFold fold;
  fold.add(100, 5100);
  const auto depth = fold.finish();
  EXPECT_DOUBLE_EQ(depth.mean, 1);
  EXPECT_DOUBLE_EQ(depth.peak, 1);
  EXPECT_EQ(depth.origin_ns, 100);
}
TEST(QueueDepth, ConcurrentWaitsAddUp) {
  QueueDepthFold fold;
  for (int i = 0; i < 10; ++i) fold.add(0, 10'240);
  fold.add(10'240, 102'400);
  const auto depth = fold.finish();
  EXPECT_DOUBLE_EQ(depth.depth.front(), 10);
  EXPECT_DOUBLE_EQ(depth.depth.back(), 1);
  EXPECT_DOUBLE_EQ(depth.peak, 10);
  EXPECT_NEAR(depth.mean, (10 * 10'240 + 92'160) / 102'400.0, 1e-9);
}
TEST(QueueDepth, SkipsImpossibleTimes) {
  QueueDepthFold fold;
  fold.add(100, 100);
  fold.add(100, 50);
  fold.add(INT64_MIN, INT64_MAX);
  EXPECT_EQ(fold.finish(), QueueDepth());
}
// The mean is the time that all kernels spent in the queue over the span, whatever the buckets' width became.
TEST(QueueDepth, RandomTracesKeepTheirTime) {
  core::Random random(5);
  for (int round = 0; round < 50; ++round) {
    QueueDepthFold fold;
    double held = 0;
    std::int64_t at = 1'000'000, last = 0;
    const std::int64_t origin = at;
    for (int i = 0; i < 2'000; ++i) {
      const std::int64_t end = at + 1 + static_cast<std::int64_t>(random.below(1'000'000));
      fold.add(at, end);
      held += static_cast<double>(end - at);
      last = std::max(last, end);
      at += static_cast<std::int64_t>(random.below(50'000));
    }
    const auto depth = fold.finish();
    EXPECT_LE(depth.depth.size(), QueueDepthFold::kBuckets);
    EXPECT_NEAR(depth.mean * static_cast<double>(last - origin), held, 1e-6 * held);
    EXPECT_DOUBLE_EQ(depth.peak, *std::max_element(depth.depth.begin(), depth.depth.end()));
  }
}

}  // namespace
}  // namespace aaco::analytics::trace_time
