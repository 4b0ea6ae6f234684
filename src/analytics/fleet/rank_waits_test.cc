#include "analytics/rank_waits.h"

#include <gtest/gtest.h>

namespace aaco::analytics::fleet {
namespace {

// `count` barriers of `ranks` ranks, of which `late` arrives 10 ms after the others.
std::vector<RankCall> barriers(std::int32_t ranks, std::int32_t late, std::int32_t count, std::int64_t clock_offset_ns = 0) {
  std::vector<RankCall> out;
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    for (std::int32_t k = 0; k < count; ++k) {
      const std::int64_t end = (k + 1) * 100'000'000LL + rank * clock_offset_ns;
      out.push_back({rank, "barrier", end - (rank == late ? 100'000 : 10'100'000 + rank * 1000), end});
    }
  return out;
}

TEST(LateRank, ShortestCallIsTheLastToArrive) {
  const auto late = late_rank(barriers(2, 1, 4));
  ASSERT_TRUE(late.rank.has_value());
  EXPECT_EQ(*late.rank, 1);
  EXPECT_EQ(late.last_count, 4);
  EXPECT_NEAR(late.late_ns, 1e7, 1e4);
  EXPECT_NEAR(late.confidence, 1 - 2.0 / 16, 1e-9);
}
TEST(LateRank, ClocksNeedNotBeJoined) { EXPECT_EQ(late_rank(barriers(4, 2, 8, 3'600'000'000'000)).rank, 2); }
TEST(LateRank, ConfidenceGrowsWithInstances) { EXPECT_GT(late_rank(barriers(8, 2, 20)).confidence, 0.999); }
TEST(LateRank, AlternatingRanksHaveNone) {
  std::vector<RankCall> calls;
  for (int k = 0; k < 10; ++k)
    for (int rank = 0; rank < 2; ++rank)
      calls.push_back({rank, "all_reduce", k * 100'000'000LL + (k % 2 == rank ? 0 : 20'000'000), k * 100'000'000LL + 30'000'000});
  const auto late = late_rank(calls);
  EXPECT_FALSE(late.rank.has_value());
  EXPECT_FALSE(late.cannot_tell);
}
TEST(LateRank, TwoInstancesAreTooFew) { EXPECT_FALSE(late_rank(barriers(2, 1, 2)).rank.has_value()); }
TEST(LateRank, OneRankCannotTell) { EXPECT_TRUE(late_rank(barriers(1, 0, 4)).cannot_tell); }
TEST(LateRank, NoCallsCannotTell) { EXPECT_TRUE(late_rank({}).cannot_tell); }
TEST(LateRank, UnequalCountsCannotTell) {
  auto calls = barriers(2, 1, 4);
  calls.pop_back();
  const auto late = late_rank(calls);
  EXPECT_TRUE(late.cannot_tell);
  EXPECT_NE(late.reason.find("matched"), std::string::npos);
}

}  // namespace
}  // namespace aaco::analytics::fleet
