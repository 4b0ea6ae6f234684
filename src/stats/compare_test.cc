#include "stats/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "stats/distributions.h"

namespace aaco::stats {
namespace {

using testing::HasSubstr;
using Sessions = std::vector<std::vector<double>>;

struct World {
  double level = 100;
  double between = 0;      // relative deviation of sessions
  double within = 0.02;    // of iterations
  double correlation = 0;  // of neighbours
};

Sessions measure(const World& world, int sessions, int iterations, core::Random& random) {
  Sessions result;
  for (int s = 0; s < sessions; ++s) {
    const double level = world.level * std::exp(world.between * random.normal());
    std::vector<double> series;
    double state = random.normal();
    for (int i = 0; i < iterations; ++i) {
      state = world.correlation * state + std::sqrt(1 - world.correlation * world.correlation) * random.normal();
      series.push_back(level * std::exp(world.within * state));
    }
    result.push_back(std::move(series));
  }
  return result;
}

Comparison compared(World world, double change, int sessions, int iterations, CompareOptions options = {},
                    std::uint64_t seed = 1) {
  core::Random random(seed);
  const Sessions a = measure(world, sessions, iterations, random);
  world.level *= 1 + change;
  const Sessions b = measure(world, sessions, iterations, random);
  return *compare(a, b, options);
}

// Share of trials whose interval holds the true change.
double coverage(const World& world, int sessions, int iterations, int trials, CompareOptions options = {}) {
  options.resamples = 1000;
  int inside = 0;
  for (int trial = 1; trial <= trials; ++trial) {
    const Interval interval = compared(world, 0.05, sessions, iterations, options, static_cast<std::uint64_t>(trial)).interval;
    inside += interval.low <= 0.05 && 0.05 <= interval.high;
  }
  return static_cast<double>(inside) / trials;
}

// A session with hardly any scatter within.
std::vector<double> steady(double level, std::uint64_t seed) {
  core::Random random(seed);
  std::vector<double> series;
  for (int i = 0; i < 200; ++i) series.push_back(level * std::exp(1e-5 * random.normal()));
  return series;
}

TEST(Compare, SaysHowCloseAThirdSessionMustRepeatToDecide) {
  CompareOptions options;
  options.assumed_deviation_ratio = 0.20;
  const double level_b = 100 * std::exp(0.4);
  const Sessions a = {steady(100, 1)}, b = {steady(level_b, 2)};
  const auto two = compare(a, b, options);
  ASSERT_EQ(two->verdict, Verdict::inconclusive);
  ASSERT_TRUE(two->third_session_within_ratio);
  EXPECT_THAT(two->explanation, HasSubstr("a third session would decide if it reproduces the one on its side within"));
  const double d = std::log1p(*two->third_session_within_ratio);
  EXPECT_EQ(compare(a, Sessions{b[0], steady(level_b * std::exp(-0.85 * d), 3)}, options)->verdict, Verdict::regression);
  EXPECT_EQ(compare(a, Sessions{b[0], steady(level_b * std::exp(0.85 * d), 3)}, options)->verdict, Verdict::regression);
  EXPECT_EQ(compare(a, Sessions{b[0], steady(level_b * std::exp(-1.25 * d), 3)}, options)->verdict, Verdict::inconclusive);
}

TEST(Compare, AThirdSessionDoesNotDecideWhatItsOwnScatterHides) {
  CompareOptions options;
  options.assumed_deviation_ratio = 0.20;
  const auto result = compared({.within = 0.5}, 0.10, 1, 30, options);
  ASSERT_EQ(result.verdict, Verdict::inconclusive);
  EXPECT_FALSE(result.third_session_within_ratio);
  EXPECT_EQ(result.more_sessions, 2) << "the assumption is not extrapolated";
  EXPECT_THAT(result.explanation, HasSubstr("measuring 2 more per side replaces the assumed deviation"));
}

TEST(Compare, VerdictsByDefinition) {
  EXPECT_EQ(judge({0.06, 0.08}, 0.05, true), Verdict::regression);
  EXPECT_EQ(judge({0.06, 0.08}, 0.05, false), Verdict::improvement);
  EXPECT_EQ(judge({-0.08, -0.06}, 0.05, true), Verdict::improvement);
  EXPECT_EQ(judge({-0.08, -0.06}, 0.05, false), Verdict::regression);
  EXPECT_EQ(judge({-0.04, 0.04}, 0.05, true), Verdict::equivalent);
  EXPECT_EQ(judge({0.04, 0.06}, 0.05, true), Verdict::inconclusive);
  EXPECT_EQ(judge({-0.06, 0.06}, 0.05, true), Verdict::inconclusive);
  EXPECT_EQ(judge({0.05, 0.08}, 0.05, true), Verdict::inconclusive);  // touching is not beyond
  EXPECT_EQ(judge({0.01, 0.02}, 0, true), Verdict::regression);
}

TEST(Compare, FindsARegression) {
  const Comparison result = compared({}, 0.2, 1, 200);
  EXPECT_EQ(result.verdict, Verdict::regression);
  EXPECT_NEAR(result.delta_ratio, 0.2, 0.01);
  EXPECT_LT(result.welch->p_value, 1e-6);
  EXPECT_LT(result.rank->p_value, 1e-6);
  EXPECT_NEAR(result.shift->value, 20, 1);
}

TEST(Compare, FindsAnImprovement) { EXPECT_EQ(compared({}, -0.2, 1, 200).verdict, Verdict::improvement); }
TEST(Compare, DetectsNoChange) { EXPECT_EQ(compared({}, 0.0, 1, 200).verdict, Verdict::equivalent); }

TEST(Compare, NoiseIsInconclusiveWithSuggestedSampleSize) {
  const Comparison result = compared({.within = 0.5}, 0.0, 1, 20);
  EXPECT_EQ(result.verdict, Verdict::inconclusive);
  EXPECT_GT(result.detectable.increase_ratio, 0.05);
  ASSERT_TRUE(result.more_iterations);
  EXPECT_GT(*result.more_iterations, 20);
  EXPECT_THAT(result.explanation, HasSubstr("more iterations per side needed to decide"));
}

// Student's t is most of the width that few sessions have, and goes as more come: what is told must allow for both.
TEST(Compare, SuggestedSampleSizeDetectsTheDistanceFromTheThreshold) {
  const Comparison result = compared({.between = 0.03}, 0.02, 3, 50);
  ASSERT_EQ(result.verdict, Verdict::inconclusive);
  ASSERT_TRUE(result.more_sessions);
  const double distance = std::abs(result.log_change - std::log1p(0.05));
  const auto detectable = [&](double sessions) {  // at the level and with the power asked for
    return detectable_distance({result.noise.standard_error * std::sqrt(3 / sessions), result.degrees_of_freedom * sessions / 3},
                               0.95, 0.8);
  };
  EXPECT_NEAR(std::expm1(std::log1p(0.05) + detectable(3)), result.detectable.increase_ratio, 1e-9);
  const auto told = static_cast<double>(3 + *result.more_sessions);
  EXPECT_LE(detectable(told), distance);
  EXPECT_GT(detectable(told - 1.5), distance);
}

TEST(Compare, SessionsThatDifferTooMuchAreNotCalledNearTheThreshold) {
  const auto side = [](double change) {  // two sessions of which one takes twice as long, and a change just at the threshold
    Sessions sessions = {std::vector<double>(30, 70 * change), std::vector<double>(30, 140 * change)};
    for (auto& session : sessions) session[0] *= 1.0001;
    return sessions;
  };
  const Comparison result = *compare(side(1), side(1.0501), {});
  ASSERT_EQ(result.verdict, Verdict::inconclusive);
  EXPECT_FALSE(result.more_sessions);
  EXPECT_THAT(result.explanation, HasSubstr("variation within a side is too large"));
}

TEST(Compare, OneSessionPerSideIsReported) {
  EXPECT_FALSE(compared({}, 0, 1, 100).between_sessions_known);
  EXPECT_THAT(compared({}, 0, 1, 100).explanation, HasSubstr("session-to-session variance unknown"));
  EXPECT_TRUE(compared({}, 0, 3, 100).between_sessions_known);
  const CompareOptions history{.history_deviation_ratio = 0.1, .history_count = 20};
  const Comparison with_history = compared({}, 0, 1, 100, history);
  EXPECT_TRUE(with_history.between_sessions_known);
  EXPECT_EQ(with_history.verdict, Verdict::inconclusive);  // a change of 5 % is hidden by sessions that differ by 10 %
  EXPECT_NEAR(with_history.interval.high, 0.3, 0.15);
}

TEST(Compare, IntervalCoversWithinOneSession) { EXPECT_NEAR(coverage({}, 1, 100, 300), 0.95, 0.035); }
TEST(Compare, IntervalCoversCorrelatedIterations) { EXPECT_NEAR(coverage({.correlation = 0.7}, 1, 400, 300), 0.94, 0.04); }
TEST(Compare, IntervalCoversSessionsThatDiffer) { EXPECT_NEAR(coverage({.between = 0.05}, 5, 30, 300), 0.955, 0.04); }
TEST(Compare, IntervalCoversFewSessions) { EXPECT_NEAR(coverage({.between = 0.05}, 3, 30, 300), 0.96, 0.04); }
TEST(Compare, IntervalCoversWithHistory) {
  const CompareOptions history{.history_deviation_ratio = 0.05, .history_count = 30};
  EXPECT_NEAR(coverage({.between = 0.05}, 1, 100, 300, history), 0.95, 0.04);
}

// Medians of 100 normal values scatter by 1.2533 x 2 % / 10; a change of 2.80 times the scatter of their ratio is seen in 80 of
// 100.
TEST(Compare, SmallestDetectableChangeByTheTextbook) {
  const double effect = 2.80 * std::sqrt(2.0) * 1.2533 * 0.002;
  double stated = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed)
    stated += compared({}, 0, 1, 100, {.threshold_ratio = 0, .resamples = 500}, seed).detectable.increase_ratio / 200;
  EXPECT_NEAR(stated, effect, 0.1 * effect);
}

// How often a true change of the size that equal sides state on average is called one.
double power_at_the_stated(const World& world, int sessions, double threshold, bool increase) {
  constexpr int kTrials = 300;
  const CompareOptions options{.threshold_ratio = threshold, .resamples = 400};
  double stated = 0;
  for (std::uint64_t seed = 1; seed <= kTrials; ++seed) {
    const Detectable found = compared(world, 0, sessions, 60, options, seed).detectable;
    stated += (increase ? std::log1p(found.increase_ratio) : std::log1p(-found.decrease_ratio)) / kTrials;
  }
  int decided = 0;
  for (std::uint64_t seed = 1001; seed <= 1000 + kTrials; ++seed)
    decided += compared(world, std::expm1(stated), sessions, 60, options, seed).verdict ==
               (increase ? Verdict::regression : Verdict::improvement);
  return decided / static_cast<double>(kTrials);
}

TEST(Compare, SmallestDetectableChangeHasItsPowerAtEveryThreshold) {
  for (const double threshold : {0.0, 0.02, 0.2}) {
    EXPECT_NEAR(power_at_the_stated({}, 1, threshold, true), 0.8, 0.08) << threshold;
    EXPECT_NEAR(power_at_the_stated({.between = 0.03}, 3, threshold, true), 0.8, 0.08) << threshold;
    EXPECT_NEAR(power_at_the_stated({.between = 0.03}, 3, threshold, false), 0.8, 0.08) << threshold;
  }
}

TEST(Compare, SharesOfTheThreeAnswersAddUp) {
  const VerdictShares none = verdict_shares(0, 0.01, 30, 0.05, true);
  EXPECT_NEAR(none.regression + none.equivalent + none.improvement, 1, 1e-12);
  EXPECT_GT(none.equivalent, 0.99);
  EXPECT_GT(verdict_shares(0.2, 0.02, 30, 0.05, true).regression, 0.99);
  EXPECT_GT(verdict_shares(0.2, 0.02, 30, 0.05, false).improvement, 0.99);
  EXPECT_EQ(verdict_shares(0.2, 0, 1, 0.05, true).regression, 1);
  EXPECT_EQ(verdict_shares(0, 0, 1, 0.05, true).equivalent, 1);
}

TEST(Compare, PValueOfNoChange) {
  EXPECT_NEAR(change_p_value(1.96, 1, 1e9), 0.05, 1e-3);
  EXPECT_EQ(change_p_value(0, 0, 1), 1);
  EXPECT_EQ(change_p_value(0.1, 0, 1), 0);
  EXPECT_LT(compared({}, 0.2, 1, 200).p_value, 1e-6);
  EXPECT_GT(compared({}, 0.0, 1, 200).p_value, 0.001);
}

TEST(Compare, OtherQuantilesAndTheMean) {
  EXPECT_NEAR(compared({}, 0.1, 1, 1000, {.statistic = 0.99}).delta_ratio, 0.1, 0.02);
  EXPECT_NEAR(compared({}, 0.1, 1, 1000, {.statistic = std::nullopt}).delta_ratio, 0.1, 0.01);
}

TEST(Compare, TheSameSeedGivesTheSameInterval) {
  EXPECT_EQ(compared({}, 0.1, 2, 50).interval, compared({}, 0.1, 2, 50).interval);
}

TEST(Compare, ConstantSeriesDecide) {
  const Sessions a{std::vector<double>(10, 100.0)}, b{std::vector<double>(10, 120.0)};
  const Comparison result = *compare(a, b, {});
  EXPECT_EQ(result.verdict, Verdict::regression);
  EXPECT_NEAR(result.interval.low, 0.2, 1e-9);
  EXPECT_FALSE(result.welch);
}

TEST(Compare, OneSessionAgainstManyBorrowsTheirVariance) {
  core::Random random(3);
  const Sessions history = measure({.between = 0.1}, 10, 20, random), now = measure({}, 1, 50, random);
  EXPECT_TRUE(compare(history, now, {})->between_sessions_known);
  const Interval interval = compare(history, now, {})->interval;
  EXPECT_GT(interval.high - interval.low, 0.2);  // sessions differ by about 10 %
  EXPECT_TRUE(compare(now, history, {})->between_sessions_known);
}

std::string refusal(const Sessions& a, const Sessions& b, const CompareOptions& options = {}) {
  const auto result = compare(a, b, options);
  return result ? "accepted" : result.error().message;
}

TEST(Compare, RefusesIncomparableInputs) {
  const Sessions good{std::vector<double>(20, 1.0)};
  EXPECT_THAT(refusal({}, good), HasSubstr("baseline has no sessions"));
  EXPECT_THAT(refusal(good, {std::vector<double>(5, 1.0)}), HasSubstr("candidate has a session with only 5 values"));
  EXPECT_THAT(refusal(good, {std::vector<double>(20, 0.0)}), HasSubstr("not positive"));
  EXPECT_THAT(refusal(good, {std::vector<double>(20, NAN)}), HasSubstr("not positive"));
  EXPECT_THAT(refusal(good, good, {.statistic = 0.99}), HasSubstr("a session with only 20 values"));
  EXPECT_THAT(refusal(good, {{}, {}}), HasSubstr("only 0 values"));
}

TEST(Compare, RefusesOptionsOutOfRange) {
  const Sessions good{std::vector<double>(20, 1.0)};
  EXPECT_NE(refusal(good, good, {.threshold_ratio = -1}), "accepted");
  EXPECT_NE(refusal(good, good, {.threshold_ratio = NAN}), "accepted");
  EXPECT_NE(refusal(good, good, {.level = 1}), "accepted");
  EXPECT_NE(refusal(good, good, {.statistic = 1.5}), "accepted");
  EXPECT_NE(refusal(good, good, {.resamples = 3}), "accepted");
  EXPECT_NE(refusal(good, good, {.history_deviation_ratio = 0.1, .history_count = 1}), "accepted");
  EXPECT_EQ(refusal(good, good), "accepted");
}

}  // namespace
}  // namespace aaco::stats
