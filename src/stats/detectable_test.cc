#include "stats/detectable.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/random.h"
#include "stats/compare.h"
#include "stats/distributions.h"
#include "stats/moments.h"
#include "stats/paired.h"

namespace aaco::stats {
namespace {

// Two sides of so many values each with a normal log, judged by Student's t: how often a true change is decided as one.
struct Trial {
  double log_change = 0;
  ChangeNoise noise;
};
Trial drawn(double true_log_change, int values, core::Random& random) {
  constexpr double kDeviation = 0.05;
  std::vector<double> a, b;
  for (int i = 0; i < values; ++i) {
    a.push_back(kDeviation * random.normal());
    b.push_back(true_log_change + kDeviation * random.normal());
  }
  const double variance = (variance_of(a) + variance_of(b)) / values;
  return {mean_of(b) - mean_of(a), {std::sqrt(variance), 2.0 * (values - 1)}};
}

bool decided(const Trial& trial, const DecisionBar& bar, Verdict wanted) {
  const double reach = student_t_quantile((1 + bar.level) / 2, trial.noise.degrees_of_freedom) * trial.noise.standard_error;
  const Interval interval{std::expm1(trial.log_change - reach), std::expm1(trial.log_change + reach)};
  return judge(interval, bar.threshold_ratio, true) == wanted &&
         (bar.change_level == 0 ||
          change_p_value(trial.log_change, trial.noise.standard_error, trial.noise.degrees_of_freedom) <= 1 - bar.change_level);
}

// The share of trials decided at the mean of the changes that trials state (`of_increase`: the increase, else the decrease).
double power_at_the_stated(int values, const DecisionBar& bar, bool of_increase) {
  constexpr int kTrials = 3000;
  core::Random random(11);
  double stated = 0;
  for (int i = 0; i < kTrials; ++i) {
    const Detectable found = smallest_detectable(drawn(0, values, random).noise, bar);
    stated += (of_increase ? std::log1p(found.increase_ratio) : std::log1p(-found.decrease_ratio)) / kTrials;
  }
  int count = 0;
  for (int i = 0; i < kTrials; ++i)
    count += decided(drawn(stated, values, random), bar, of_increase ? Verdict::regression : Verdict::improvement);
  return count / static_cast<double>(kTrials);
}

TEST(Detectable, AChangeOfTheStatedSizeIsDecidedWithThePower) {
  for (const double threshold : {0.0, 0.01, 0.05, 0.5})
    for (const int values : {2, 3, 5, 20})
      for (const double power : {0.8, 0.9})
        for (const bool increase : {true, false})
          EXPECT_NEAR(power_at_the_stated(values, {threshold, 0.95, power}, increase), power, 0.03)
              << threshold << " " << values << " " << increase;
}

TEST(Detectable, TheShareOfTheErrorIsAllowedFor) {
  for (const double threshold : {0.0, 0.05, 0.5}) {
    EXPECT_NEAR(power_at_the_stated(3, {threshold, 0.97, 0.8}, true), 0.8, 0.025) << threshold;
    EXPECT_NEAR(power_at_the_stated(3, {threshold, 0.95, 0.8, 0.98}, true), 0.8, 0.03) << threshold;
  }
}

TEST(Detectable, WithoutNoiseTheThresholdIsAllThatCounts) {
  const Detectable found = smallest_detectable({0, 1}, {0.05, 0.95, 0.8, 0.99});
  EXPECT_NEAR(found.increase_ratio, 0.05, 1e-12);
  EXPECT_NEAR(found.decrease_ratio, 0.05, 1e-12);
}

TEST(Detectable, OfManyDegreesItIsTheNormalFormula) {
  const Detectable found = smallest_detectable({0.01, 1e9}, {0, 0.95, 0.8});
  EXPECT_NEAR(std::log1p(found.increase_ratio), 0.01 * (1.959964 + 0.841621), 1e-6);
  EXPECT_NEAR(std::log1p(-found.decrease_ratio), -0.01 * (1.959964 + 0.841621), 1e-6);
}

TEST(Detectable, ADecreaseBeyondTheWholeIsNever) {
  EXPECT_EQ(smallest_detectable({0.01, 10}, {1, 0.95, 0.8}).decrease_ratio, 1);
  EXPECT_EQ(smallest_detectable({0.01, 10}, {3, 0.95, 0.8}).decrease_ratio, 1);
}

TEST(Detectable, HugeNoiseStaysANumber) {
  const Detectable found = smallest_detectable({1e300, 1}, {0.05, 0.97, 0.9});
  EXPECT_TRUE(std::isfinite(found.increase_ratio));
  EXPECT_EQ(found.decrease_ratio, 1);
}

TEST(Detectable, IsPrintedAsPeopleReadIt) {
  EXPECT_EQ(to_text({0.082, 0.079}), "+8.20 % or -7.90 %");
  EXPECT_EQ(to_text({0.082, 1}), "+8.20 %");
  EXPECT_EQ(to_text({8.4e7, 0.9999999}), "above 1000 times");
}

// The interleaved comparison: trimmed rounds and Student's t.
TEST(Detectable, OfInterleavedRounds) {
  const auto rounds_of = [](double log_change, core::Random& random) {
    std::vector<PairedRound> rounds(12);
    for (PairedRound& round : rounds) {
      const double own = log_change + 0.02 * random.normal();
      for (int i = 0; i < 8; ++i) round.effects.push_back(own + 0.04 * random.normal());
    }
    return *paired_estimate(rounds);
  };
  for (const double threshold : {0.0, 0.02, 0.1}) {
    const DecisionBar bar{threshold, 0.97, 0.8};
    constexpr int kTrials = 1500;
    core::Random random(3);
    double stated = 0;
    int found = 0;
    for (int i = 0; i < kTrials; ++i) stated += std::log1p(paired_detectable(rounds_of(0, random), bar).increase_ratio) / kTrials;
    for (int i = 0; i < kTrials; ++i)
      found += judge(paired_interval(rounds_of(stated, random), bar.level), threshold, true) == Verdict::regression;
    EXPECT_NEAR(found / static_cast<double>(kTrials), 0.8, 0.035) << threshold;
  }
}

}  // namespace
}  // namespace aaco::stats
