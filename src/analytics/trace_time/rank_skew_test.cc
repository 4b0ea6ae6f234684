#include "analytics/rank_skew.h"

#include <gtest/gtest.h>

namespace aaco::analytics::trace_time {
namespace {

RankTime rank(std::int32_t number, std::int64_t compute, std::int64_t collective, std::int64_t collectives = 10) {
  RankTime time;
  time.rank = number;
  time.span_ns = 1000;
  time.compute_ns = compute;
  time.collective_sum_ns = collective;
  time.collective_count = collectives;
  return time;
}

TEST(RankSkew, OneRankHasNone) {
  EXPECT_FALSE(rank_skew({}).has_value());
  EXPECT_FALSE(rank_skew({rank(0, 100, 50)}).has_value());
}
TEST(RankSkew, StragglerWaitsLeast) {
  const auto skew = rank_skew({rank(0, 500, 400), rank(1, 800, 100), rank(2, 500, 400)});
  ASSERT_TRUE(skew.has_value());
  EXPECT_EQ(skew->straggler, 1);
  EXPECT_DOUBLE_EQ(skew->confidence, 0.9);
  EXPECT_DOUBLE_EQ(*skew->collective_wait_ratio, 600.0 / 3000);
  EXPECT_NEAR(skew->compute_skew_ratio, 800.0 / 600 - 1, 1e-12);
}
TEST(RankSkew, TheOthersWaitInTheirExposedCollectives) {
  auto a = rank(0, 500, 400), late = rank(1, 800, 100), b = rank(2, 500, 400);
  a.exposed_collective_ns = 350, late.exposed_collective_ns = 50, b.exposed_collective_ns = 150;
  EXPECT_DOUBLE_EQ(rank_skew({a, late, b})->straggler_wait_ratio, (300.0 + 100) / 2000);
  EXPECT_DOUBLE_EQ(rank_skew({rank(0, 500, 400), rank(1, 510, 390)})->straggler_wait_ratio, 0) << "no straggler";
}
TEST(RankSkew, NoStragglerWhereComputeTimesAreEqual) {
  for (const std::int64_t compute : {400, 500, 600}) {  // of 300 that rank 0 spends longer in collectives
    const auto skew = rank_skew({rank(0, 500, 400), rank(1, compute, 100)});
    EXPECT_FALSE(skew->straggler) << compute;
    EXPECT_TRUE(skew->collective_wait_ratio);
  }
}
TEST(RankSkew, LateHostIsAStragglerToo) {
  auto late = rank(1, 500, 100);
  late.idle_ns = 280;
  const auto skew = rank_skew({rank(0, 500, 400), late});
  EXPECT_EQ(skew->straggler, 1);
  EXPECT_NE(skew->evidence.find("its host is late"), std::string::npos);
}
TEST(RankSkew, EqualRanksHaveNoStraggler) {
  const auto skew = rank_skew({rank(0, 500, 400), rank(1, 510, 390)});
  EXPECT_FALSE(skew->straggler.has_value());
  EXPECT_TRUE(skew->collective_wait_ratio.has_value());
}
TEST(RankSkew, DifferentCollectivesAreNotCompared) {
  const auto skew = rank_skew({rank(0, 500, 400, 10), rank(1, 500, 100, 7)});
  EXPECT_FALSE(skew->straggler.has_value());
  EXPECT_FALSE(skew->collective_wait_ratio.has_value());
  EXPECT_FALSE(rank_skew({rank(0, 0, 0, 0), rank(1, 0, 0, 0)})->straggler.has_value());
}
TEST(RankSkew, StepsNeedEveryRank) {
  auto one = rank(0, 1, 1), two = rank(1, 1, 1);
  one.step_mean_ns = 100;
  EXPECT_FALSE(rank_skew({one, two})->step_skew_ratio.has_value());
  two.step_mean_ns = 300;
  EXPECT_DOUBLE_EQ(*rank_skew({one, two})->step_skew_ratio, 0.5);
  EXPECT_EQ(skew_metrics(*rank_skew({one, two}), 2).size(), 4u);
}

}  // namespace
}  // namespace aaco::analytics::trace_time
