#include "stats/observer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "stats/signed_rank.h"

namespace aaco::stats {
namespace {

using testing::HasSubstr;

// Blocks of ten in the order with, without, without, with, ... around 100, the true effect `effect`.
std::vector<ObservedBlock> blocks_of(int pairs, double effect, double noise, double drift_per_block = 0, std::uint64_t seed = 2) {
  core::Random random(seed);
  std::vector<ObservedBlock> blocks;
  for (int i = 0; i < 2 * pairs; ++i) {
    ObservedBlock block{.with_instrument = i % 4 == 0 || i % 4 == 3, .durations = {}};
    const double level = (100 + drift_per_block * i) * (block.with_instrument ? 1 + effect : 1);
    for (int k = 0; k < 10; ++k) block.durations.push_back(level * (1 + noise * random.normal()));
    blocks.push_back(block);
  }
  return blocks;
}

TEST(Observer, ExactWithoutNoise) {
  const ObserverEffect effect = observer_effect(blocks_of(10, 0.02, 0));
  EXPECT_NEAR(*effect.effect_ratio, 0.02, 1e-12);
  EXPECT_NEAR(*effect.half_width, 0, 1e-12);
  EXPECT_TRUE(effect.decided);
  EXPECT_THAT(effect.explanation, HasSubstr("slows the run down"));
}

TEST(Observer, LinearDriftCancels) { EXPECT_NEAR(*observer_effect(blocks_of(20, 0.02, 0, 0.5)).effect_ratio, 0.02, 1e-3); }

TEST(Observer, DisturbedPairsDoNotMoveIt) {
  std::vector<ObservedBlock> blocks = blocks_of(30, 0.0, 0.005);
  for (double& value : blocks[4].durations) value *= 3;
  for (double& value : blocks[20].durations) value *= 2;
  const ObserverEffect effect = observer_effect(blocks);
  EXPECT_NEAR(*effect.effect_ratio, 0, 0.003);
  EXPECT_LT(*effect.half_width, 0.005);
  EXPECT_THAT(effect.explanation, HasSubstr("no detectable effect"));
}

TEST(Observer, IntervalCoversTrueValue) {
  int inside = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Interval interval = *observer_effect(blocks_of(12, 0.03, 0.05, 0, seed)).ci95;
    inside += interval.low <= 0.03 && 0.03 <= interval.high;
  }
  EXPECT_GE(inside, 368);  // 92 %: three standard deviations under 95
}

TEST(Observer, RefusesTooFewPairs) {
  const ObserverEffect effect = observer_effect(blocks_of(2, 0.5, 0));
  EXPECT_FALSE(effect.effect_ratio || effect.ci95 || effect.decided);
  EXPECT_THAT(effect.explanation, HasSubstr("from 2 pairs of blocks: need at least 3"));
  EXPECT_FALSE(observer_effect({}).effect_ratio);
}

TEST(Observer, RefusesBlocksOfOneKind) {
  std::vector<ObservedBlock> blocks = blocks_of(10, 0, 0.01);
  for (ObservedBlock& block : blocks) block.with_instrument = true;
  const ObserverEffect effect = observer_effect(blocks);
  EXPECT_FALSE(effect.effect_ratio);
  EXPECT_EQ(effect.unpaired_blocks, 20);
}

TEST(Observer, LeavesOutEmptyBlocksAndCountsThem) {
  std::vector<ObservedBlock> blocks = blocks_of(10, 0.02, 0);
  blocks[0].durations.clear();
  const ObserverEffect effect = observer_effect(blocks);
  EXPECT_EQ(effect.pairs, 9);
  EXPECT_EQ(effect.unpaired_blocks, 2);
}

TEST(Observer, ReportsEffectHiddenByNoise) {
  const ObserverEffect effect = observer_effect(blocks_of(5, 0.0, 0.2));
  EXPECT_FALSE(effect.decided);
  EXPECT_THAT(effect.explanation, HasSubstr("more pairs needed"));
}

// Hollander and Wolfe, table 3.1 (depression scale): estimate -0.46, 96.1 % interval -0.786 to -0.010 from the 6th of 45 means.
TEST(SignedRank, PublishedExample) {
  const std::vector<double> differences{-0.952, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010};
  const LocationEstimate estimate = signed_rank_location(differences);
  EXPECT_NEAR(estimate.value, -0.46, 1e-9);
  EXPECT_NEAR(estimate.ci95.low, -0.786, 1e-9);
  EXPECT_NEAR(estimate.ci95.high, -0.010, 1e-9);
}

TEST(SignedRank, SixValuesGiveTheirRange) {
  const LocationEstimate estimate = signed_rank_location(std::vector<double>{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(estimate.ci95, (Interval{1, 6}));
}

TEST(SignedRankDeathTest, FewerAreRefused) {
  EXPECT_DEATH((void)signed_rank_location(std::vector<double>{1, 2}), "MinimumCount");
}

}  // namespace
}  // namespace aaco::stats
