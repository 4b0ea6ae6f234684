#include "analytics/regression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"

namespace aaco::analytics::regression {
namespace {

using stats::Verdict;
using testing::HasSubstr;

std::vector<double> series(double level, int count, std::uint64_t seed, double noise = 0.02) {
  core::Random random(seed);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(level * std::exp(noise * random.normal()));
  return values;
}

MetricInput latency(double a, double b, int count = 200) {
  MetricInput metric{.id = "latency.p50_ns", .unit = "ns", .scope = "iteration"};
  metric.a.push_back({series(a, count, 1), {}, {}});
  metric.b.push_back({series(b, count, 2), {}, {}});
  return metric;
}

MetricInput values(std::vector<double> a, std::vector<double> b, bool exact = false) {
  MetricInput metric{.id = "gpu.kernel_count", .unit = "count", .scope = "session", .exact = exact};
  for (double value : a) metric.a.push_back({{}, value, {}});
  for (double value : b) metric.b.push_back({{}, value, {}});
  return metric;
}

MetricResult only(const MetricInput& metric, const Options& options = {}) { return compare({metric}, options).front(); }

TEST(Regression, OverflowingRatioHasNoVerdict) {
  for (const auto& result : {only(values({1e-300, 1e-300}, {6e7, 6e7})), only(latency(1e-300, 1e20))}) {
    EXPECT_EQ(result.verdict, Verdict::inconclusive);
    EXPECT_EQ(result.method, Method::none);
    EXPECT_FALSE(result.delta_ratio);
    EXPECT_THAT(result.explanation, HasSubstr("too far apart"));
  }
}

MetricInput shares(const std::vector<double>& a, const std::vector<double>& b, std::int64_t trials) {
  MetricInput metric = values(a, b);
  metric.better = Better::higher;
  metric.threshold_ratio = 0.01;
  for (auto* side : {&metric.a, &metric.b})
    for (SessionSample& sample : *side) sample.trials = trials;
  return metric;
}

// All requests of 20 blocks succeeded on both sides: of 1,200 up to 0.31 % may fail (the limit of Clopper and Pearson).
TEST(Regression, SharesOfOneHaveAnInterval) {
  const std::vector<double> all(20, 1.0);
  const auto result = only(shares(all, all, 60));
  ASSERT_TRUE(result.interval);
  EXPECT_NEAR(result.interval->low, -0.0031, 2e-4);
  EXPECT_NEAR(result.interval->high, 0.0031, 2e-4);
  EXPECT_EQ(result.verdict, Verdict::equivalent);
  EXPECT_EQ(only(shares({1, 1}, {1, 1}, 10)).verdict, Verdict::inconclusive);
  EXPECT_EQ(only(values({1, 1}, {1, 1})).interval->low, 0);  // no shares: nothing is known but that they are equal
  EXPECT_EQ(only(shares(all, std::vector<double>(20, 0.9), 60)).verdict, Verdict::regression);
  // Failures that come by session scatter more than single requests would.
  EXPECT_EQ(only(shares({1, 1, 1, 1}, {1, 0.6, 1, 1}, 1000)).verdict, Verdict::inconclusive);
}

TEST(Regression, ComparesSeries) {
  const auto result = only(latency(100, 120));
  EXPECT_EQ(result.verdict, Verdict::regression);
  EXPECT_EQ(result.method, Method::bootstrap);
  EXPECT_EQ(severity_of(result), "critical");
  EXPECT_GT(confidence_of(result), 0.99);
}
TEST(Regression, AFinerThresholdMakesNoChangeWorse) {
  for (const double threshold : {0.02, 0.05}) {
    MetricResult result{.id = "x", .verdict = Verdict::regression, .threshold_ratio = threshold, .delta_ratio = 0.0998};
    EXPECT_EQ(severity_of(result), "minor") << threshold;
    result.delta_ratio = -0.11;
    EXPECT_EQ(severity_of(result), "major") << threshold;
  }
}
TEST(Regression, ImprovementAndEquivalent) {
  EXPECT_EQ(only(latency(120, 100)).verdict, Verdict::improvement);
  EXPECT_EQ(severity_of(only(latency(120, 100))), "none");
  EXPECT_EQ(only(latency(100, 100)).verdict, Verdict::equivalent);
  EXPECT_GT(confidence_of(only(latency(100, 100))), 0.95);
}
TEST(Regression, ThroughputIsTheReciprocalOfTheMean) {
  MetricInput metric = latency(1e6, 1.25e6);
  metric.id = "throughput.items_per_second";
  metric.better = Better::higher;
  metric.statistic = std::nullopt;
  metric.reciprocal_of = 1e9;
  const auto result = only(metric);
  EXPECT_EQ(result.verdict, Verdict::regression);
  EXPECT_NEAR(*result.delta_ratio, -0.2, 0.01);
  EXPECT_NEAR(*result.baseline, 1000, 10);
  EXPECT_LT(result.interval->low, result.interval->high);
  EXPECT_GT(confidence_of(result), 0.99);
}
TEST(Regression, SeveralValuesPerSide) {
  EXPECT_EQ(only(values({100, 101, 99, 100}, {120, 121, 119, 120})).verdict, Verdict::regression);
  EXPECT_EQ(only(values({100, 101, 99, 100}, {100, 100, 101, 99})).verdict, Verdict::equivalent);
  EXPECT_EQ(only(values({100, 150, 70}, {110, 60, 160})).verdict, Verdict::inconclusive);
}
TEST(Regression, OneValueAgainstSeveralBorrowsTheirVariance) {
  const auto result = only(values({100, 101, 99, 100}, {120}));
  EXPECT_EQ(result.verdict, Verdict::regression);
  EXPECT_EQ(result.method, Method::values);
}
TEST(Regression, ExactCountsDecideAtOnce) {
  const auto result = only(values({100}, {150}, true));
  EXPECT_EQ(result.method, Method::exact);
  EXPECT_EQ(result.verdict, Verdict::regression);
  EXPECT_EQ(only(values({100}, {100}, true)).verdict, Verdict::equivalent);
}
TEST(Regression, OneValuePerSideHasNoVerdict) {
  const auto result = only(values({100}, {150}));
  EXPECT_EQ(result.verdict, Verdict::inconclusive);
  EXPECT_THAT(result.reason, HasSubstr("several sessions"));
  EXPECT_NEAR(*result.delta_ratio, 0.5, 1e-12);
}
TEST(Regression, OneValuePerSideWithInterval) {
  MetricInput metric = values({100}, {150});
  metric.a[0].ci95 = stats::Interval{98, 102};
  metric.b[0].ci95 = stats::Interval{148, 152};
  const auto result = only(metric);
  EXPECT_EQ(result.method, Method::interval);
  EXPECT_EQ(result.verdict, Verdict::regression);
}
TEST(Regression, ZeroAndNegativeHaveNoRatio) {
  EXPECT_THAT(only(values({0}, {5})).reason, HasSubstr("must be positive"));
  EXPECT_THAT(only(values({-1}, {5})).reason, HasSubstr("must be positive"));
  EXPECT_EQ(only(values({0}, {0})).verdict, Verdict::equivalent);
}
TEST(Regression, NaNIsNotMeasured) { EXPECT_THAT(only(values({NAN}, {5})).reason, HasSubstr("missing from")); }
TEST(Regression, WithoutDataThereIsNoVerdict) {
  const auto result = only(values({}, {}));
  EXPECT_EQ(result.method, Method::none);
  EXPECT_EQ(confidence_of(result), 0);
}
TEST(Regression, SingleIterationReportsRequiredCount) {
  EXPECT_THAT(only(latency(100, 100, 1)).reason, HasSubstr("measure at least 6 iterations"));
}
TEST(Regression, ConstantSeriesDecide) {
  MetricInput metric = latency(1, 1);
  metric.a[0].series.assign(10, 100.0);
  metric.b[0].series.assign(10, 120.0);
  EXPECT_EQ(only(metric).verdict, Verdict::regression);
  metric.b[0].series.assign(10, 100.0);
  EXPECT_EQ(only(metric).verdict, Verdict::equivalent);
}
TEST(Regression, ConfidenceAllowsForSessionsThatDiffer) {
  EXPECT_GT(confidence_of(only(latency(100, 112))), 0.99);
  const Options assumed{.assumed_between_ratio = 0.1};
  EXPECT_EQ(only(latency(100, 112), assumed).verdict, Verdict::regression);
  EXPECT_LT(confidence_of(only(latency(100, 112), assumed)), 0.8);
  EXPECT_GT(confidence_of(only(latency(100, 250), assumed)), 0.99);
}
TEST(Regression, OneSessionPerSideAssumesSessionVariance) {
  const Options assumed{.assumed_between_ratio = 0.2, .assumption_widens = true};
  const auto modest = only(latency(100, 130), assumed);
  EXPECT_EQ(modest.verdict, Verdict::inconclusive);
  EXPECT_FALSE(modest.between_sessions_known);
  EXPECT_GT(modest.detectable->increase_ratio, 0.5);
  EXPECT_THAT(modest.explanation, HasSubstr("session-to-session deviation assumed to be 20"));
  EXPECT_FALSE(modest.more_iterations);
  EXPECT_EQ(only(latency(100, 250), assumed).verdict, Verdict::regression);
}
TEST(Regression, NeitherDirectionIsBetter) {
  MetricInput metric = values({100}, {150}, true);
  metric.better = Better::neither;
  const auto result = only(metric);
  EXPECT_EQ(result.verdict, Verdict::inconclusive);
  EXPECT_THAT(result.explanation, HasSubstr("neither direction"));
}

// Of equal sides, the share of sets of ten metrics in which any but the first is called changed stays at the level.
TEST(Regression, CorrectsForManyMetrics) {
  core::Random random(7);
  int alarms = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<MetricInput> metrics;
    for (int i = 0; i < 10; ++i) {
      MetricInput metric = values({}, {});
      metric.threshold_ratio = 0;
      for (int k = 0; k < 5; ++k) {
        metric.a.push_back({{}, 100 * std::exp(0.05 * random.normal()), {}});
        metric.b.push_back({{}, 100 * std::exp(0.05 * random.normal()), {}});
      }
      metrics.push_back(std::move(metric));
    }
    const auto results = compare(metrics, {});
    for (std::size_t i = 1; i < results.size(); ++i)
      if (results[i].verdict != Verdict::inconclusive) {
        ++alarms;
        break;
      }
  }
  EXPECT_LT(alarms, kTrials * 0.05 + 3 * std::sqrt(kTrials * 0.05 * 0.95));
}

// Three sessions a side whose calls take 7 or 10 ms, each with `slow` of the calls in the slow mode.
MetricInput two_modes(std::string id, stats::StatisticChoice statistic, const std::vector<double>& slow_a,
                      const std::vector<double>& slow_b, double factor, std::uint64_t seed = 5) {
  core::Random random(seed);
  MetricInput metric{.id = std::move(id), .unit = "ns", .scope = "iteration", .statistic = statistic};
  const auto session = [&](double slow, double times) {
    SessionSample sample;
    for (int i = 0; i < 200; ++i)
      sample.series.push_back((random.uniform() < slow ? 10e6 : 7e6) * times * std::exp(0.005 * random.normal()));
    return sample;
  };
  for (const double slow : slow_a) metric.a.push_back(session(slow, 1));
  for (const double slow : slow_b) metric.b.push_back(session(slow, factor));
  return metric;
}

std::vector<MetricResult> judged(const std::vector<double>& slow_a, const std::vector<double>& slow_b, double factor,
                                 std::uint64_t seed = 5) {
  Options options;
  options.first_error_share = kMedianErrorShare;
  options.resamples = 300;
  return compare({two_modes("latency.p50_ns", 0.5, slow_a, slow_b, factor, seed),
                  two_modes("latency.mean_ns", std::nullopt, slow_a, slow_b, factor, seed),
                  two_modes("latency.p90_ns", 0.9, slow_a, slow_b, factor, seed)},
                 options);
}

TEST(Regression, AMedianBetweenTwoModesIsSeenAndTheTailTakesItsShare) {
  const auto results = judged({0.45, 0.55, 0.5}, {0.5, 0.45, 0.55}, 1.15);
  ASSERT_TRUE(results[0].modes);
  EXPECT_NEAR(results[0].modes->high / results[0].modes->low, 10.0 / 7, 0.3);
  EXPECT_EQ(results[0].verdict, Verdict::inconclusive);
  EXPECT_EQ(results[2].verdict, Verdict::regression) << results[2].explanation;
  EXPECT_LE(*results[2].p_value, kMedianErrorShare * 0.05);
}

TEST(Regression, OneModeYieldsNoModes) {
  EXPECT_FALSE(judged({0.02, 0.02, 0.02}, {0.02, 0.03, 0.02}, 1)[0].modes);
  EXPECT_FALSE(only(latency(100, 120)).modes);
  MetricInput wide{.id = "latency.p50_ns", .unit = "ns", .scope = "iteration"};
  wide.a.push_back({series(100, 400, 3, 0.3), {}, {}});
  wide.b.push_back({series(100, 400, 4, 0.3), {}, {}});
  EXPECT_FALSE(only(wide).modes) << "wide, with one mode";
}

TEST(Regression, EqualSidesWithTwoModesAreRarelyCalledDifferent) {
  int wrong = 0;
  constexpr int kPairs = 60;
  core::Random random(11);
  for (int pair = 0; pair < kPairs; ++pair) {
    std::vector<double> slow_a, slow_b;
    for (auto* side : {&slow_a, &slow_b})
      for (int i = 0; i < 3; ++i) side->push_back(0.35 + 0.3 * random.uniform());
    const auto results = judged(slow_a, slow_b, 1, 100 + static_cast<std::uint64_t>(pair));
    const bool changed = std::any_of(results.begin(), results.end(), [](const MetricResult& one) {
      return one.verdict == Verdict::regression || one.verdict == Verdict::improvement;
    });
    wrong += changed ? 1 : 0;
  }
  EXPECT_LE(wrong, 6) << "5 % of 60, with room for chance";
}

// The mean has its own share of the error: how many other metrics are tested beside it does not matter.
TEST(Regression, OtherMetricsDoNotTakeTheMeansShare) {
  Options options;
  options.first_error_share = kMedianErrorShare;
  MetricInput median = values({100, 101, 99}, {100, 101, 99}), mean = values({100, 104, 96}, {130, 136, 124});
  median.id = "latency.p50_ns", mean.id = "latency.mean_ns";
  std::vector<MetricInput> metrics = {median, mean};
  const auto alone = compare(metrics, options)[1];
  ASSERT_EQ(alone.verdict, Verdict::regression) << alone.explanation;
  for (int i = 0; i < 30; ++i) {
    metrics.push_back(median);
    metrics.back().id = "memory." + std::to_string(i);
  }
  EXPECT_EQ(compare(metrics, options)[1].verdict, Verdict::regression);
  options.first_error_share = 1;  // the mean shares nothing then
  EXPECT_LT(*alone.p_value * 31, 1);
}

}  // namespace
}  // namespace aaco::analytics::regression
