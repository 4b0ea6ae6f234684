#include "analytics/ab_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "stats/paired.h"

namespace aaco::analytics::regression {
namespace {

using stats::Verdict;
using testing::HasSubstr;

constexpr std::chrono::nanoseconds kTenSeconds{10'000'000'000};

AbRule rule() {
  AbRule asked;
  asked.duration = kTenSeconds;
  return asked;
}

// Six pairs of blocks a round around 1 ms; B takes `ratio` times as long, and rounds scatter by `between`.
std::vector<AbRoundBlocks> rounds_of(std::size_t count, double ratio, double between = 0.001) {
  core::Random random(7);
  std::vector<AbRoundBlocks> rounds(count);
  for (AbRoundBlocks& round : rounds) {
    const double of_b = ratio * std::exp(between * random.normal());
    for (int pair = 0; pair < 6; ++pair) {
      const double level = 1e6 * std::exp(0.001 * random.normal());
      round.sides[0].push_back({level, level * 1.001, level * 0.999});
      round.sides[1].push_back({level * of_b, level * of_b * 1.001, level * of_b * 0.999});
    }
  }
  return rounds;
}

MetricResult median_of(const std::vector<AbRoundBlocks>& rounds, const AbRule& asked = rule()) {
  return judge_rounds(rounds, "latency.p50_ns", 0.5, {}, asked);
}

MetricResult decided(Verdict verdict) {
  MetricResult metric;
  metric.method = Method::paired;
  metric.verdict = verdict;
  metric.threshold_ratio = 0.02;
  metric.delta_ratio = 0.03;
  metric.interval = stats::Interval{0.01, 0.05};
  return metric;
}

TEST(AbRounds, SlowerFasterAndTheSame) {
  EXPECT_EQ(median_of(rounds_of(8, 1.1)).verdict, Verdict::regression);
  EXPECT_EQ(median_of(rounds_of(8, 0.9)).verdict, Verdict::improvement);
  EXPECT_EQ(median_of(rounds_of(8, 1.0)).verdict, Verdict::equivalent);
  EXPECT_EQ(median_of(rounds_of(8, 1.02, 0.03)).verdict, Verdict::inconclusive);
}

TEST(AbRounds, TheResultStatesWhatItIsBasedOn) {
  const MetricResult result = median_of(rounds_of(8, 1.1));
  EXPECT_EQ(result.method, Method::paired);
  EXPECT_TRUE(result.between_sessions_known) << "every round has processes of its own";
  EXPECT_NEAR(*result.delta_ratio, 0.1, 0.005);
  EXPECT_NEAR(*result.baseline, 1e6, 1e4);
  EXPECT_NEAR(*result.candidate, 1.1e6, 1e4);
  EXPECT_LT(*result.p_value, 0.01);
  EXPECT_GT(result.shares.regression, 0.99);
  EXPECT_THAT(result.explanation, HasSubstr("48 block pairs in 8 process rounds"));
}

TEST(AbRounds, TooFewRoundsHaveNoVerdict) {
  for (const std::size_t count : {0U, 1U, 3U}) {
    const MetricResult result = median_of(rounds_of(count, 1.5));
    EXPECT_EQ(result.method, Method::none) << count;
    EXPECT_EQ(result.verdict, Verdict::inconclusive);
    EXPECT_THAT(result.reason, HasSubstr("at least 4 process rounds"));
    EXPECT_FALSE(result.delta_ratio);
  }
}

TEST(AbRounds, TheThresholdDecidesWhatCounts) {
  AbRule wide = rule();
  wide.threshold_ratio = 0.2;
  EXPECT_EQ(median_of(rounds_of(8, 1.1), wide).verdict, Verdict::equivalent);
}

TEST(AbRounds, AHigherLevelHasAWiderInterval) {
  const auto rounds = rounds_of(8, 1.1, 0.01);
  const auto usual = judge_rounds(rounds, "x", 0.5, {}, rule()), strict = judge_rounds(rounds, "x", 0.5, {0.999, 0.95}, rule());
  EXPECT_LT(strict.interval->low, usual.interval->low);
  EXPECT_GT(strict.interval->high, usual.interval->high);
}

TEST(AbLook, OnlyAtItsRounds) {
  EXPECT_FALSE(look_at(rounds_of(4, 1.1), rule()));
  EXPECT_TRUE(look_at(rounds_of(5, 1.1), rule()));
  EXPECT_FALSE(look_at(rounds_of(6, 1.1), rule()));
  EXPECT_TRUE(look_at(rounds_of(8, 1.1), rule()));
}

TEST(AbLook, IsEnoughWhereDecidedAndSmallChangesWouldShow) {
  const auto clear = look_at(rounds_of(8, 1.1), rule());
  EXPECT_TRUE(clear->enough);
  EXPECT_THAT(clear->sentence, HasSubstr("round 8: B +"));
  EXPECT_FALSE(look_at(rounds_of(8, 1.02, 0.02), rule())->enough) << "not decided";
  AbRule exact = rule();
  exact.detectable_ratio = 1e-9;
  EXPECT_FALSE(look_at(rounds_of(8, 1.1), exact)->enough) << "decided, and smaller changes are asked for";
}

TEST(AbLook, RoundsWithoutPairsSayNothing) { EXPECT_FALSE(look_at(std::vector<AbRoundBlocks>(8), rule())); }

TEST(AbAll, CallerCpuIsJudgedWhereEveryBlockHasIt) {
  auto rounds = rounds_of(8, 1.0, 0.3);
  for (AbRoundBlocks& round : rounds)
    for (int pair = 0; pair < 6; ++pair) {
      round.caller_cpu[0].push_back(5e5 + pair);
      round.caller_cpu[1].push_back(5.5e5 + pair);
    }
  const auto metrics = judge_all(rounds, rule());
  ASSERT_EQ(metrics.size(), 4U);
  EXPECT_EQ(metrics[0].verdict, Verdict::inconclusive) << "wall time scatters too much";
  EXPECT_EQ(metrics[3].id, "latency.caller_cpu_ns");
  EXPECT_EQ(metrics[3].verdict, Verdict::regression);
  EXPECT_NEAR(*metrics[3].delta_ratio, 0.1, 1e-3);
  rounds[3].caller_cpu[1].pop_back();
  EXPECT_EQ(judge_all(rounds, rule()).size(), 3U);
}

// One call in six is stopped for a while: the median of a block does not move.
TEST(AbAll, StallsDecideByTheMean) {
  auto rounds = rounds_of(8, 1.0);
  for (AbRoundBlocks& round : rounds)
    for (auto& block : round.sides[1]) block = {block[0], block[1], block[2], block[0], block[1], block[2] * 10};
  const auto metrics = judge_all(rounds, rule());
  EXPECT_EQ(metrics.front().id, "latency.mean_ns");
  EXPECT_EQ(metrics.front().verdict, Verdict::regression);
  EXPECT_NE(metrics[1].verdict, Verdict::regression) << "the median";
}

TEST(AbAll, MedianMeanAndThroughput) {
  AbRule asked = rule();
  asked.items = {4, 8};
  const auto metrics = judge_all(rounds_of(6, 1.1), asked);
  ASSERT_EQ(metrics.size(), 3U);
  EXPECT_EQ(metrics[0].id, "latency.p50_ns");
  EXPECT_EQ(metrics[1].id, "latency.mean_ns");
  const MetricResult& throughput = metrics[2];
  EXPECT_EQ(throughput.id, "throughput.items_per_second");
  EXPECT_EQ(throughput.unit, "1/s");
  EXPECT_NEAR(*throughput.baseline, 4000, 100);
  EXPECT_NEAR(*throughput.delta_ratio, 2 / 1.1 - 1, 0.01);
  EXPECT_EQ(throughput.verdict, Verdict::improvement) << "twice the items in a tenth more time";
  EXPECT_LT(throughput.interval->low, throughput.interval->high);
  EXPECT_EQ(metrics[0].verdict, Verdict::regression);
}

TEST(AbAll, OfTooFewRoundsNothingIsDerived) {
  for (const MetricResult& metric : judge_all(rounds_of(2, 1.1), rule())) {
    EXPECT_EQ(metric.method, Method::none);
    EXPECT_FALSE(metric.delta_ratio || metric.interval);
  }
}

TEST(AbAll, RoundsThatEndedAtALookAreJudgedAtItsLevel) {
  const auto at_look = rounds_of(8, 1.1);
  EXPECT_EQ(judge_all(at_look, rule())[0].interval,
            judge_rounds(at_look, "latency.p50_ns", 0.5, {1 - kMedianErrorShare * (1 - stats::kEarlyLevel)}, rule()).interval);
  const auto later = rounds_of(9, 1.1);
  EXPECT_EQ(
      judge_all(later, rule())[0].interval,
      judge_rounds(later, "latency.p50_ns", 0.5, {1 - kMedianErrorShare * (1 - stats::last_level(0.95, 8))}, rule()).interval);
}

TEST(AbChange, OfOneRound) {
  const AbRoundChange change = change_of(rounds_of(1, 1.1, 0).front());
  EXPECT_NEAR(change.change_ratio, 0.1, 1e-9);
  EXPECT_EQ(change.pairs, 6);
  EXPECT_NEAR(change.b_median_ns / change.a_median_ns, 1.1, 1e-3);
}

TEST(AbChange, WithoutAPairThereIsNone) {
  AbRoundBlocks round;
  round.sides = {{{{1e6}}, {{0}}}};
  const AbRoundChange change = change_of(round);
  EXPECT_EQ(change.pairs, 0);
  EXPECT_EQ(change.change_ratio, 0);
}

TEST(AbRecommendation, FollowsTheVerdict) {
  EXPECT_EQ(recommend_ab(decided(Verdict::improvement), rule(), 8), "use B");
  EXPECT_THAT(recommend_ab(decided(Verdict::regression), rule(), 8), HasSubstr("keep A"));
  EXPECT_THAT(recommend_ab(decided(Verdict::equivalent), rule(), 8), HasSubstr("no action needed"));
}

TEST(AbRecommendation, WithoutAnIntervalItIsMoreTime) {
  MetricResult none;
  EXPECT_THAT(recommend_ab(none, rule(), 3), HasSubstr("only 3 process rounds"));
}

TEST(AbRecommendation, SaysHowLongWouldDecide) {
  // A half width of 0.02 and a distance of 0.015 to the threshold: 1.78 times as long.
  MetricResult open = decided(Verdict::inconclusive);
  open.delta_ratio = 0.035;
  EXPECT_EQ(recommend_ab(open, rule(), 8), "measure longer: a --duration of about 18s should be conclusive");
  open.delta_ratio = -0.035;
  EXPECT_THAT(recommend_ab(open, rule(), 8), HasSubstr("--duration of about 18s")) << "either direction";
}

TEST(AbRecommendation, TooCloseToTheThresholdNoTimeDecides) {
  MetricResult close = decided(Verdict::inconclusive);
  for (const double delta : {0.02, 0.0219}) {
    close.delta_ratio = delta;
    EXPECT_THAT(recommend_ab(close, rule(), 8), HasSubstr("too close to the threshold of 2.00 %")) << delta;
  }
}

}  // namespace
}  // namespace aaco::analytics::regression
