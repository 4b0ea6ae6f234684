#include "analytics/side_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::analytics::regression {
namespace {

using stats::Verdict;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr DecisionRule kFirstDecides{};
constexpr DecisionRule kKernels{.kernels_may_decide = true};
constexpr DecisionRule kBudgets{.every_budget = true};

MetricResult metric(const std::string& id, Verdict verdict, double delta_ratio = 0.1, double threshold_ratio = 0.05) {
  MetricResult result;
  result.id = id;
  result.method = Method::bootstrap;
  result.verdict = verdict;
  result.delta_ratio = delta_ratio;
  result.threshold_ratio = threshold_ratio;
  result.shares = {0.7, 0.2, 0.1};
  return result;
}

std::vector<std::string> ids(const std::vector<MetricResult>& metrics) {
  std::vector<std::string> out;
  for (const auto& one : metrics) out.push_back(one.id);
  return out;
}

TEST(SideVerdict, TheFirstMetricDecides) {
  for (const Verdict verdict : {Verdict::regression, Verdict::improvement, Verdict::equivalent, Verdict::inconclusive}) {
    std::vector<MetricResult> metrics = {metric("latency.p50_ns", verdict), metric("other", Verdict::equivalent)};
    const SideVerdict out = decide(metrics, kFirstDecides);
    EXPECT_EQ(out.verdict, to_string(verdict));
    EXPECT_EQ(out.confidence, confidence_of(metrics.front()));
    EXPECT_EQ(out.severity, severity_of(metrics.front()));
    EXPECT_THAT(out.notes, IsEmpty());
  }
}

TEST(SideVerdict, MeasuredConfidenceIsNeverCertain) {
  MetricResult sure = metric("latency.p50_ns", Verdict::regression);
  sure.shares = {1, 0, 0};
  EXPECT_LT(confidence_of(sure), 1);
  sure.method = Method::exact;
  EXPECT_EQ(confidence_of(sure), 1);
}

TEST(SideVerdict, SlowerTokensDecideBesideAnUnchangedFirstToken) {
  const auto sides = [](double p_holm) {
    std::vector<MetricResult> metrics = {metric("llm.ttft_p50_ns", Verdict::equivalent, 0.01),
                                         metric("llm.tpot_p50_ns", Verdict::regression, 0.2)};
    metrics[1].p_holm = p_holm;
    return metrics;
  };
  auto metrics = sides(0.001);
  const SideVerdict out = decide(metrics, kKernels);
  EXPECT_EQ(out.verdict, "regression");
  EXPECT_EQ(metrics.front().id, "llm.tpot_p50_ns");
  EXPECT_THAT(out.notes, ElementsAre(HasSubstr("llm.ttft_p50_ns is equivalent")));
  auto chance = sides(0.2);
  EXPECT_EQ(decide(chance, kKernels).verdict, "equivalent") << "one of several metrics, by chance";
  auto named = sides(0.001);
  EXPECT_EQ(decide(named, kFirstDecides).verdict, "equivalent") << "the user named the metric";
}

TEST(SideVerdict, FailuresDecideAgainstFasterAnswers) {
  const auto sides = [](const std::string& worse) {
    std::vector<MetricResult> metrics = {metric("llm.ttft_p50_ns", Verdict::improvement, -0.4),
                                         metric(worse, Verdict::regression, -0.3)};
    metrics[1].p_holm = 0.001;
    return metrics;
  };
  auto failing = sides("llm.availability_ratio");
  EXPECT_EQ(decide(failing, kKernels).verdict, "regression");
  auto slower = sides("llm.e2el_p50_ns");
  EXPECT_EQ(decide(slower, kKernels).verdict, "improvement");
}

TEST(SideVerdict, AMedianThatStayedDoesNotHideAMeanThatRegressed) {
  const auto sides = [](double low, double delta = 0.4) {
    std::vector<MetricResult> metrics = {metric("latency.p50_ns", Verdict::equivalent),
                                         metric("latency.mean_ns", Verdict::inconclusive, delta)};
    metrics[0].threshold_ratio = 0.05;
    metrics[1].interval = stats::Interval{low, 0.84};
    return metrics;
  };
  auto metrics = sides(0.083);
  const SideVerdict out = decide(metrics, {.kernels_may_decide = true});
  EXPECT_EQ(out.verdict, "inconclusive");
  EXPECT_THAT(out.notes, ElementsAre(HasSubstr("the mean changed by +40")));
  auto undecided = sides(-0.04);
  undecided[1].more_sessions = 4;
  EXPECT_EQ(decide(undecided, {.kernels_may_decide = true}).verdict, "inconclusive");
  EXPECT_EQ(undecided[0].more_sessions, 4);
  auto open = sides(-0.04, 0.03);
  EXPECT_EQ(decide(open, {.kernels_may_decide = true}).verdict, "inconclusive") << "a loss of 84 % is not excluded";
  auto within = sides(-0.04, 0.03);
  within[1].interval->high = 0.09;
  EXPECT_EQ(decide(within, {.kernels_may_decide = true}).verdict, "equivalent");
  auto named = sides(0.083);
  EXPECT_EQ(decide(named, kFirstDecides).verdict, "equivalent") << "the user named the metric that decides";
}

TEST(SideVerdict, HiddenKernelWorkDoesNotDecide) {
  for (const Verdict whole : {Verdict::equivalent, Verdict::inconclusive}) {
    std::vector<MetricResult> metrics = {metric("latency.p50_ns", whole, 0.0),
                                         metric("gpu.kernel_sum_ns", Verdict::regression, 0.75)};
    const SideVerdict out = decide(metrics, kKernels);
    EXPECT_EQ(out.verdict, to_string(whole));
    EXPECT_THAT(out.notes, ElementsAre(HasSubstr(whole == Verdict::equivalent ? "more kernel work, hidden: no slower"
                                                                              : "more kernel work, and not proven slower")));
    EXPECT_EQ(metrics[0].id, "latency.p50_ns");
  }
}

TEST(SideVerdict, KernelsDecideWhereTheWholeTookLongerToo) {
  std::vector<MetricResult> metrics = {metric("gpu.span_ns", Verdict::inconclusive, 0.3),
                                       metric("gpu.kernel_sum_ns", Verdict::regression, 0.5)};
  EXPECT_EQ(decide(metrics, kKernels).verdict, "regression");
  EXPECT_EQ(metrics[0].id, "gpu.kernel_sum_ns");
}

TEST(SideVerdict, SeverityIsOfARegressionOnly) {
  std::vector<MetricResult> worse = {metric("latency.p50_ns", Verdict::regression, 0.3)};
  EXPECT_EQ(decide(worse, kFirstDecides).severity, "critical");
  std::vector<MetricResult> better = {metric("latency.p50_ns", Verdict::improvement, -0.3)};
  EXPECT_EQ(decide(better, kFirstDecides).severity, "none");
}

TEST(SideVerdict, AnotherRegressionIsNotedAndDoesNotDecide) {
  std::vector<MetricResult> metrics = {metric("latency.p50_ns", Verdict::equivalent), metric("x", Verdict::regression)};
  const SideVerdict out = decide(metrics, kFirstDecides);
  EXPECT_EQ(out.verdict, "equivalent");
  EXPECT_THAT(out.notes, ElementsAre(AllOf(HasSubstr("x also regressed"), HasSubstr("--metric"))));
  metrics.front().verdict = Verdict::regression;
  EXPECT_THAT(decide(metrics, kFirstDecides).notes, IsEmpty()) << "the verdict is a regression anyway";
}

MetricResult mean(Verdict verdict, double p_value) {
  MetricResult result = metric("latency.mean_ns", verdict, verdict == Verdict::improvement ? -0.5 : 1.7);
  result.p_value = p_value;
  return result;
}

TEST(SideVerdict, StallsThatTheMedianDoesNotSeeAreARegression) {
  for (const Verdict median : {Verdict::equivalent, Verdict::inconclusive, Verdict::improvement}) {
    std::vector<MetricResult> metrics = {metric("latency.p50_ns", median, 0.04), mean(Verdict::regression, 1e-4)};
    const SideVerdict out = decide(metrics, {.mean_error = 0.01});
    EXPECT_EQ(out.verdict, "regression") << to_string(median);
    EXPECT_EQ(metrics.front().id, "latency.mean_ns");
    EXPECT_THAT(out.notes, ElementsAre(HasSubstr("latency.mean_ns decides (+170 %)")));
    EXPECT_NEAR(*out.latency_delta_pct, 170, 1e-9) << "of the metric that decided";
  }
}

TEST(SideVerdict, TheMeanDecidesOnlyWithinItsShareOfTheError) {
  const auto verdict_of = [](Verdict median, MetricResult other, double mean_error) {
    std::vector<MetricResult> metrics = {metric("latency.p50_ns", median), std::move(other)};
    return decide(metrics, {.mean_error = mean_error}).verdict;
  };
  EXPECT_EQ(verdict_of(Verdict::equivalent, mean(Verdict::regression, 0.02), 0.01), "equivalent");
  EXPECT_EQ(verdict_of(Verdict::equivalent, mean(Verdict::regression, 1e-4), 0), "equivalent");
  EXPECT_EQ(verdict_of(Verdict::equivalent, mean(Verdict::inconclusive, 1e-4), 0.01), "equivalent");
  EXPECT_EQ(verdict_of(Verdict::inconclusive, mean(Verdict::improvement, 1e-4), 0.01), "improvement");
  EXPECT_EQ(verdict_of(Verdict::regression, mean(Verdict::improvement, 1e-4), 0.01), "regression");
  MetricResult other = mean(Verdict::regression, 1e-4);
  other.id = "latency.p90_ns";
  EXPECT_EQ(verdict_of(Verdict::equivalent, std::move(other), 0.01), "equivalent");
}

TEST(SideVerdict, AMedianBetweenTwoModesYieldsToTheTail) {
  std::vector<MetricResult> metrics = {metric("latency.p50_ns", Verdict::inconclusive, 0.17),
                                       metric("latency.p90_ns", Verdict::regression, 0.45)};
  EXPECT_EQ(decide(metrics, {.mean_error = 0.02}).verdict, "inconclusive") << "no modes";
  metrics.front().modes = stats::Interval{6.8e6, 10.1e6};
  const SideVerdict out = decide(metrics, {.mean_error = 0.02});
  EXPECT_EQ(out.verdict, "regression");
  EXPECT_EQ(metrics.front().id, "latency.p90_ns");
  EXPECT_THAT(out.notes, ElementsAre(AllOf(HasSubstr("latency.p90_ns decides (+45"), HasSubstr("6.80 ms and 10.1 ms"))));
}

TEST(SideVerdict, TheMetricNearestToADecisionCountsTheSessions) {
  std::vector<MetricResult> metrics = {metric("latency.p50_ns", Verdict::inconclusive),
                                       metric("latency.mean_ns", Verdict::inconclusive)};
  metrics[0].more_sessions = 529, metrics[1].more_sessions = 3;
  const SideVerdict out = decide(metrics, {.mean_error = 0.02});
  EXPECT_EQ(metrics.front().more_sessions, 3);
  EXPECT_THAT(out.notes, ElementsAre(HasSubstr("about 3 more sessions per side")));
  metrics[0].more_sessions = 529, metrics[1].more_sessions.reset(), metrics[1].corrected = true;
  EXPECT_THAT(decide(metrics, {.mean_error = 0.02}).notes, ElementsAre(HasSubstr("about 1 more session per side")));
  metrics[0].more_sessions = 2, metrics[1].more_sessions = 3, metrics[1].corrected = false;
  EXPECT_THAT(decide(metrics, {.mean_error = 0.02}).notes, IsEmpty());
  EXPECT_EQ(metrics.front().more_sessions, 2);
}

TEST(SideVerdict, ABimodalMedianThatDecidedOrHasNoTailIsKept) {
  std::vector<MetricResult> decided = {metric("latency.p50_ns", Verdict::improvement, -0.2),
                                       metric("latency.p90_ns", Verdict::regression, 0.45)};
  decided.front().modes = stats::Interval{6.8e6, 10.1e6};
  EXPECT_EQ(decide(decided, {.mean_error = 0.02}).verdict, "improvement");
  std::vector<MetricResult> alone = {metric("latency.p50_ns", Verdict::inconclusive),
                                     metric("latency.p90_ns", Verdict::inconclusive)};
  alone.front().modes = stats::Interval{6.8e6, 10.1e6};
  const SideVerdict out = decide(alone, {.mean_error = 0.02});
  EXPECT_EQ(out.verdict, "inconclusive");
  EXPECT_THAT(out.notes, ElementsAre(HasSubstr("jumps between two modes")));
  std::vector<MetricResult> with_mean = {metric("latency.p50_ns", Verdict::inconclusive), mean(Verdict::regression, 1e-4)};
  with_mean.front().modes = stats::Interval{6.8e6, 10.1e6};
  EXPECT_THAT(decide(with_mean, {.mean_error = 0.02}).notes, ElementsAre(HasSubstr("it jumps between two modes")));
}

TEST(SideVerdict, KernelsDecideOnlyWhereTheyRegressedAndNoMetricWasNamed) {
  const std::vector<MetricResult> hidden = {metric("gpu.span_ns", Verdict::inconclusive), metric("x", Verdict::equivalent),
                                            metric("gpu.kernel_sum_ns", Verdict::regression)};
  auto metrics = hidden;
  EXPECT_EQ(decide(metrics, kKernels).verdict, "regression");
  EXPECT_THAT(ids(metrics), ElementsAre("gpu.kernel_sum_ns", "gpu.span_ns", "x")) << "the others keep their order";
  metrics = hidden;
  EXPECT_EQ(decide(metrics, kFirstDecides).verdict, "inconclusive");
  metrics = hidden;
  metrics.back().verdict = Verdict::improvement;
  EXPECT_EQ(decide(metrics, kKernels).verdict, "inconclusive");
  metrics = hidden;
  metrics.front().verdict = Verdict::regression;
  EXPECT_EQ(decide(metrics, kKernels).verdict, "regression");
  EXPECT_EQ(metrics.front().id, "gpu.span_ns");
}

// "regression: true" never stands beside a lower latency.
TEST(SideVerdict, TheDeltaShownIsTheDecidingMetrics) {
  std::vector<MetricResult> metrics = {metric("gpu.span_ns", Verdict::inconclusive, -0.0946),
                                       metric("gpu.kernel_sum_ns", Verdict::regression, 0.3)};
  const SideVerdict out = decide(metrics, kKernels);
  EXPECT_EQ(out.verdict, "inconclusive");
  EXPECT_NEAR(*out.latency_delta_pct, -9.46, 1e-9);
  EXPECT_THAT(out.notes, ElementsAre(HasSubstr("gpu.kernel_sum_ns +30.0 %, gpu.span_ns -9.46 %")));
}

TEST(SideVerdict, OppositeDirectionsAreNamedAndTheLeadingChangeDecides) {
  std::vector<MetricResult> metrics = {metric("gpu.span_ns", Verdict::improvement, -0.0946),
                                       metric("gpu.kernel_sum_ns", Verdict::regression, 0.3)};
  const SideVerdict out = decide(metrics, kKernels);
  EXPECT_EQ(out.verdict, "improvement");
  EXPECT_EQ(out.severity, "none");
  EXPECT_NEAR(*out.latency_delta_pct, -9.46, 1e-9);
  EXPECT_EQ(out.opposite, "gpu.span_ns -9.46 %, but gpu.kernel_sum_ns +30.0 %");
}

TEST(SideVerdict, EqualDirectionsAndSmallChangesAreNotOpposite) {
  std::vector<MetricResult> alike = {metric("gpu.span_ns", Verdict::regression, 0.1),
                                     metric("gpu.kernel_sum_ns", Verdict::regression, 0.3)};
  EXPECT_EQ(decide(alike, kKernels).opposite, "");
  std::vector<MetricResult> small = {metric("gpu.span_ns", Verdict::equivalent, -0.01),
                                     metric("gpu.kernel_sum_ns", Verdict::regression, 0.3)};
  EXPECT_EQ(decide(small, kKernels).opposite, "") << "below the threshold";
  std::vector<MetricResult> other = {metric("latency.p50_ns", Verdict::regression, 0.1),
                                     metric("throughput.items_per_second", Verdict::regression, -0.1)};
  EXPECT_EQ(decide(other, kFirstDecides).opposite, "") << "a rate is no time";
}

TEST(SideVerdict, TheBudgetExceededMostDecides) {
  std::vector<MetricResult> metrics = {metric("latency.p50_ns", Verdict::equivalent, 0.01),
                                       metric("memory", Verdict::regression, 0.2, 0.1),   // twice its budget
                                       metric("energy", Verdict::regression, 0.1, 0.01),  // ten times
                                       metric("gpu", Verdict::regression, 0.5, 0)};       // without a budget
  const SideVerdict out = decide(metrics, kBudgets);
  EXPECT_EQ(out.verdict, "regression");
  EXPECT_EQ(metrics.front().id, "energy");
  EXPECT_THAT(out.notes,
              ElementsAre("energy exceeded its budget of 1.00 % and determines the verdict; latency.p50_ns is equivalent"));
  EXPECT_NEAR(*out.latency_delta_pct, 1, 1e-12);
}

TEST(SideVerdict, BudgetsDoNotDecideWhereNoneIsBrokenOrTheLeadingMetricRegressed) {
  std::vector<MetricResult> kept = {metric("latency.p50_ns", Verdict::equivalent), metric("memory", Verdict::improvement, -0.5)};
  EXPECT_EQ(decide(kept, kBudgets).verdict, "equivalent");
  EXPECT_EQ(kept.front().id, "latency.p50_ns");
  std::vector<MetricResult> lost = {metric("latency.p50_ns", Verdict::regression, 0.06),
                                    metric("memory", Verdict::regression, 0.9)};
  EXPECT_THAT(decide(lost, kBudgets).notes, IsEmpty());
  EXPECT_EQ(lost.front().id, "latency.p50_ns");
  std::vector<MetricResult> unlisted = {metric("latency.p50_ns", Verdict::equivalent), metric("memory", Verdict::regression)};
  EXPECT_EQ(decide(unlisted, kFirstDecides).verdict, "equivalent") << "no baseline, no budgets";
}

TEST(SideVerdict, LatencyIsOfTheMetricThatSaysMost) {
  const auto delta = [](std::vector<MetricResult> metrics) { return decide(metrics, kFirstDecides).latency_delta_pct; };
  const auto one = [](const char* id, double ratio) { return metric(id, Verdict::equivalent, ratio); };
  EXPECT_DOUBLE_EQ(*delta({one("gpu.span_ns", 0.1), one("latency.mean_ns", 0.2), one("latency.p50_ns", 0.3)}), 30);
  EXPECT_DOUBLE_EQ(*delta({one("gpu.span_ns", 0.1), one("latency.mean_ns", 0.2)}), 20);
  EXPECT_DOUBLE_EQ(*delta({one("gpu.busy_ns", 0.4), one("gpu.span_ns", 0.1)}), 10);
  EXPECT_DOUBLE_EQ(*delta({one("x", 0.9), one("gpu.kernel_sum_ns", -0.4)}), -40);
  EXPECT_FALSE(delta({one("memory.rss_peak_bytes", 0.1)}));
  auto unknown = one("latency.p50_ns", 0.1);
  unknown.delta_ratio.reset();
  EXPECT_FALSE(delta({unknown}));
}

TEST(SideVerdict, NotComparableIsCertain) {
  EXPECT_EQ(not_comparable().verdict, kNotComparable);
  EXPECT_EQ(not_comparable().confidence, 1);
  EXPECT_EQ(not_comparable().severity, "none");
}

TEST(Recommendation, OfAChangeIsTheCauses) {
  EXPECT_EQ(recommend(metric("x", Verdict::regression), "use the faster library"), "use the faster library");
  EXPECT_THAT(recommend(metric("x", Verdict::regression), std::nullopt), HasSubstr("--profile"));
  EXPECT_THAT(recommend(metric("x", Verdict::improvement), std::nullopt), HasSubstr("--profile"));
}

TEST(Recommendation, WithoutAChangeOrAnIntervalTheCauseIsNotNamed) {
  EXPECT_EQ(recommend(metric("x", Verdict::equivalent), "use the faster library"), "no action needed");
  MetricResult none = metric("x", Verdict::inconclusive);
  none.method = Method::none;
  none.reason = "too few values";
  EXPECT_EQ(recommend(none, "use the faster library"), "too few values");
}

TEST(Recommendation, OfAnInconclusiveMetricIsMoreData) {
  MetricResult open = metric("x", Verdict::inconclusive);
  open.detectable = stats::Detectable{0.15, 0.13};  // three times the threshold
  EXPECT_THAT(recommend(open, {}), HasSubstr("too close"));
  open.detectable = stats::Detectable{0.16, 0.14};
  EXPECT_THAT(recommend(open, {}), HasSubstr("idle machine"));
  open.more_sessions = 1;
  EXPECT_THAT(recommend(open, {}), HasSubstr("about 1 more session per side"));
  open.more_sessions = 3;
  EXPECT_THAT(recommend(open, {}), HasSubstr("about 3 more sessions per side"));
  open.more_iterations = 500;
  EXPECT_EQ(recommend(open, {}), "measure about 500 more iterations per side") << "the cheaper one first";
}

TEST(Recommendation, OfSidesThatDiffer) {
  EXPECT_THAT(recommend_not_comparable("batch"), HasSubstr("the same batch"));
  EXPECT_THAT(recommend_not_comparable("baseline.expired"), HasSubstr("aaco baseline add"));
}

MetricInput value(const char* id, double a, double b) {
  MetricInput input{.id = id, .unit = "ns", .scope = "session"};
  input.a.push_back({{}, a, {}});
  input.b.push_back({{}, b, {}});
  return input;
}

TEST(Narrow, GivesBothSidesHalfOfTheVariance) {
  std::vector<MetricInput> metrics = {value("gpu.span_ns", 1000, 2000), value("other", 1000, 2000)};
  narrow(metrics, "gpu.span_ns", 100);
  const double half = 1.959964 * 100 / 1.4142136;
  EXPECT_NEAR(metrics[0].a[0].ci95->low, 1000 - half, 1e-3);
  EXPECT_NEAR(metrics[0].b[0].ci95->high, 2000 + half, 1e-3);
  EXPECT_FALSE(metrics[1].a[0].ci95);
}

TEST(Narrow, LeavesDevicesSeriesAndSmallValues) {
  MetricInput device = value("gpu.span_ns", 1000, 2000), series = value("gpu.span_ns", 1000, 2000);
  device.device = 0;
  series.a[0].series = {999, 1001};
  std::vector<MetricInput> metrics = {device, series, value("gpu.span_ns", 100, 2000)};
  narrow(metrics, "gpu.span_ns", 100);
  EXPECT_FALSE(metrics[0].a[0].ci95 || metrics[0].b[0].ci95);
  EXPECT_FALSE(metrics[1].a[0].ci95);
  EXPECT_TRUE(metrics[1].b[0].ci95);
  EXPECT_FALSE(metrics[2].a[0].ci95) << "an interval beyond zero";
  std::vector<MetricInput> none;
  narrow(none, "gpu.span_ns", 100);
  EXPECT_THAT(none, SizeIs(0));
}

}  // namespace
}  // namespace aaco::analytics::regression
