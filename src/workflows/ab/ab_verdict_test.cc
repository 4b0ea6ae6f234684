#include "workflows/ab/ab_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using analytics::regression::AbRoundBlocks;
using testing::HasSubstr;

std::vector<AbRoundBlocks> rounds_of(std::size_t count, double ratio) {
  std::vector<AbRoundBlocks> rounds(count);
  for (std::size_t i = 0; i < count; ++i)
    for (const double level : {1e6, 1.001e6, 0.999e6}) {
      rounds[i].sides[0].push_back({level});
      rounds[i].sides[1].push_back({level * ratio * (1 + 1e-4 * static_cast<double>(i % 3))});
      rounds[i].b_first = i % 2 == 1;
    }
  return rounds;
}

AbOutcome judged(const std::vector<AbRoundBlocks>& rounds, AbOutcome outcome = {}) {
  fill_verdict(rounds, rule_of(AbRequest(), {1, 1}), outcome);
  return outcome;
}

TEST(AbVerdict, FollowsTheRounds) {
  for (const auto& [ratio, verdict, advice] : {std::tuple(1.2, "regression", "keep A"), std::tuple(0.8, "improvement", "use B"),
                                               std::tuple(1.0, "equivalent", "no action needed")}) {
    const AbOutcome outcome = judged(rounds_of(8, ratio));
    EXPECT_EQ(outcome.verdict.verdict, verdict);
    EXPECT_THAT(outcome.verdict.recommendation, HasSubstr(advice));
    EXPECT_NEAR(*outcome.verdict.latency_delta_pct, 100 * (ratio - 1), 0.1);
    EXPECT_GT(outcome.verdict.confidence, 0.9);
    EXPECT_EQ(outcome.rounds.size(), 8U);
    EXPECT_TRUE(outcome.rounds[1].b_first && !outcome.rounds[0].b_first);
  }
}

TEST(AbVerdict, OfTooFewRoundsIsInconclusive) {
  const AbOutcome outcome = judged(rounds_of(2, 1.5));
  EXPECT_EQ(outcome.verdict.verdict, "inconclusive");
  EXPECT_EQ(outcome.verdict.severity, "none");
  EXPECT_FALSE(outcome.verdict.latency_delta_pct);
}

TEST(AbVerdict, ForcedAndLostRoundsAreNoted) {
  AbOutcome before;
  before.verdict.comparable = false;
  before.lost_rounds = {"killed by signal 9", "timed out"};
  const auto notes = judged(rounds_of(8, 1.0), before).verdict.notes;
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_THAT(notes[0], HasSubstr("because of --force"));
  EXPECT_THAT(notes[1], HasSubstr("2 workers exited"));
  EXPECT_TRUE(judged(rounds_of(8, 1.0)).verdict.notes.empty());
}

TEST(AbDifferences, OnlyAnotherProblemForbids) {
  const auto tried = ab_differences({{"runtime.version", "1"}, {"batch", "4"}}, {{"runtime.version", "2"}, {"batch", "4"}});
  ASSERT_EQ(tried.size(), 1U);
  EXPECT_TRUE(hardware::comparable(tried));
  for (const char* key : {"batch", "input_shapes"}) {
    const auto other = ab_differences({{key, "4"}, {"threads", "1"}}, {{key, "8"}, {"threads", "2"}});
    ASSERT_EQ(other.size(), 2U);
    EXPECT_FALSE(hardware::comparable(other)) << key;
    EXPECT_EQ(other.front().key, key) << "what forbids comes first";
  }
}

TEST(AbDifferences, RefusedWithWhatToMakeEqual) {
  AbOutcome outcome;
  outcome.verdict.differences = ab_differences({{"batch", "4"}}, {{"batch", "8"}});
  refuse_comparison(outcome);
  EXPECT_EQ(outcome.verdict.verdict, "not-comparable");
  EXPECT_THAT(outcome.verdict.recommendation, HasSubstr("the same batch"));
  EXPECT_TRUE(outcome.rounds.empty());
}

}  // namespace
}  // namespace aaco::workflows
