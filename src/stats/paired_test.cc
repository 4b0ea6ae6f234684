#include "stats/paired.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "stats/distributions.h"

namespace aaco::stats {
namespace {

using Blocks = std::vector<std::vector<double>>;

// Rounds that differ by `between`, of pairs that scatter by `within`; each tenth round is disturbed.
std::vector<PairedRound> rounds_of(std::size_t count, double change, double between, double within, core::Random& random,
                                   bool disturbed = false) {
  std::vector<PairedRound> rounds;
  for (std::size_t r = 0; r < count; ++r) {
    PairedRound round;
    double level = change + between * random.normal();
    if (disturbed && random.below(10) == 0) level += random.normal();
    for (int i = 0; i < 30; ++i) round.effects.push_back(level + within * random.normal());
    rounds.push_back(round);
  }
  return rounds;
}

TEST(PairedRound, IsTheLogRatioOfNeighbours) {
  const PairedRound round = make_round(Blocks{{1, 2, 3}, {4}}, Blocks{{4, 4, 4}, {2}}, 0.5);
  ASSERT_EQ(round.effects.size(), 2U);
  EXPECT_DOUBLE_EQ(round.effects[0], std::log(2.0));
  EXPECT_DOUBLE_EQ(round.effects[1], std::log(0.5));
}
TEST(PairedRound, OmitsUndefinedRatios) {
  EXPECT_TRUE(make_round(Blocks{{}, {0}, {1}, {std::nan("")}}, Blocks{{1}, {1}, {-1}, {1}}, 0.5).effects.empty());
}
TEST(PairedRound, IgnoresUnpairedBlock) { EXPECT_EQ(make_round(Blocks{{1}, {1}}, Blocks{{1}}, 0.5).effects.size(), 1U); }

TEST(PairedEstimate, TooFewRounds) {
  core::Random random(1);
  EXPECT_FALSE(paired_estimate(rounds_of(3, 0, 0.01, 0.1, random)));
  EXPECT_FALSE(paired_estimate(std::vector<PairedRound>(10)));
}
TEST(PairedEstimate, ConstantRounds) {
  const auto estimate = paired_estimate(std::vector<PairedRound>(6, PairedRound{{std::log(1.1), std::log(1.1)}}));
  ASSERT_TRUE(estimate);
  EXPECT_NEAR(paired_interval(*estimate, 0.95).low, 0.1, 1e-12);
  EXPECT_NEAR(paired_detectable(*estimate, {0.02, 0.95, 0.8}).increase_ratio, 0.02, 1e-9) << "the threshold is left";
}

// The interval holds the truth as often as it says, also where rounds are disturbed.
TEST(PairedEstimate, CoversTrueValue) {
  for (const bool disturbed : {false, true})
    for (const std::size_t count : {5U, 12U, 30U}) {
      core::Random random(3);
      int covered = 0;
      constexpr int kTrials = 1000;
      for (int trial = 0; trial < kTrials; ++trial) {
        const auto interval = paired_interval(*paired_estimate(rounds_of(count, 0.02, 0.03, 0.1, random, disturbed)), 0.95);
        covered += interval.low <= std::expm1(0.02) && std::expm1(0.02) <= interval.high ? 1 : 0;
      }
      EXPECT_GT(binomial_cdf(covered, kTrials, 0.95), 0.005) << count << disturbed;
    }
}

TEST(PairedLooks, GrowByHalves) {
  std::vector<std::int64_t> looks;
  for (std::int64_t round = 0; round <= 30; ++round)
    if (is_early_look(round)) looks.push_back(round);
  EXPECT_EQ(looks, (std::vector<std::int64_t>{5, 8, 12, 18, 27}));
}
TEST(PairedLooks, LastBlockTakesRemainder) {
  EXPECT_DOUBLE_EQ(last_level(0.95, 4), 0.95);
  EXPECT_DOUBLE_EQ(last_level(0.95, 12), 0.953);
}

// Equal sides, looked at as they grow: not more than the level are called changed.
TEST(PairedLooks, OverallLevelIsKept) {
  core::Random random(9);
  int wrong = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto all = rounds_of(20, 0, 0.03, 0.05, random);
    bool changed = false;
    for (std::size_t count = 5; count <= all.size() && !changed; ++count) {
      const bool last = count == all.size();
      if (!last && !is_early_look(static_cast<std::int64_t>(count))) continue;
      const auto interval =
          paired_interval(*paired_estimate(std::span(all).first(count)), last ? last_level(0.95, 19) : kEarlyLevel);
      changed = interval.low > 0 || interval.high < 0;
    }
    wrong += changed ? 1 : 0;
  }
  EXPECT_LT(binomial_cdf(wrong, kTrials, 0.05), 0.995) << wrong;
}

}  // namespace
}  // namespace aaco::stats
