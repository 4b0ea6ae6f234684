#include "workflows/run/live_blocks.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using Kind = stats::StoppingOptions::Kind;

stats::StoppingOptions goal(Kind kind) {
  stats::StoppingOptions options;
  options.kind = kind;
  options.iterations = 100;
  options.time_ns = 1'000'000'000;
  options.precision_ratio = 0.01;
  return options;
}

TEST(LiveGoal, OfIterations) {
  const LiveGoal now = live_goal(goal(Kind::iterations), 25, 1, 3'000'000'000, {});
  EXPECT_DOUBLE_EQ(*now.ratio, 0.25);
  EXPECT_DOUBLE_EQ(*now.left_s, 9);
}

TEST(LiveGoal, OfTime) { EXPECT_DOUBLE_EQ(*live_goal(goal(Kind::time), 1, 500'000'000, 1, {}).ratio, 0.5); }

// Twice the width needs four times the calls.
TEST(LiveGoal, OfPrecision) {
  const LiveGoal now = live_goal(goal(Kind::precision), 50, 1, 1'000'000'000, 0.02);
  EXPECT_DOUBLE_EQ(*now.ratio, 0.25);
  EXPECT_DOUBLE_EQ(*now.left_s, 3);
}

TEST(LiveGoal, ALimitThatComesFirstCounts) {
  stats::StoppingOptions options = goal(Kind::precision);
  options.maximum_iterations = 100;
  EXPECT_DOUBLE_EQ(*live_goal(options, 80, 1, 1, 0.5).ratio, 0.8);
}

TEST(LiveGoal, WithoutAnIntervalNothingIsKnown) {
  const LiveGoal now = live_goal(goal(Kind::precision), 5, 1, 1, {});
  EXPECT_FALSE(now.ratio || now.left_s);
}

TEST(LiveGoal, TooEarlyForATime) { EXPECT_FALSE(live_goal(goal(Kind::iterations), 1, 1, 1, {}).left_s); }

TEST(LiveGoal, NeverMoreThanAll) {
  const LiveGoal now = live_goal(goal(Kind::iterations), 300, 1, 1'000'000'000, {});
  EXPECT_DOUBLE_EQ(*now.ratio, 1);
  EXPECT_DOUBLE_EQ(*now.left_s, 0);
}

}  // namespace
}  // namespace aaco::workflows
