#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/regression.h"

// What a comparison of two sides concludes from its metrics, and what to do next.
namespace aaco::analytics::regression {

// How much equal sessions differ where the lake does not know: medians of processes of one CPU run differ by up to 40 % on shared
// machines, in two modes (docs/methodology.md), traces of one GPU program by a few percent (our own judgement).
inline constexpr double kAssumedBetweenRuns = 0.20;
inline constexpr double kAssumedBetweenTraces = 0.03;

inline constexpr std::string_view kNotComparable = "not-comparable";

struct SideVerdict {
  std::string verdict;  // regression, improvement, equivalent, inconclusive; kNotComparable
  std::string severity = "none";
  double confidence = 0;
  // Of the deciding metric where it is a time, else of the metric that says most about latency.
  std::optional<double> latency_delta_pct;
  // "gpu.span_ns -9.5 %, but gpu.kernel_sum_ns +5.1 %": times that changed in opposite directions, the deciding one first; empty:
  // none.
  std::string opposite;
  std::vector<std::string> notes;
};

struct DecisionRule {
  // The user named no metric: kernel time decides where it regressed and the leading metric did not change. Slower kernels are a
  // regression even where idle time hides them. Of a server, any regression of what it is judged by decides where the leading
  // metric did not change.
  bool kernels_may_decide = false;
  // Mean latency decides where it changed and the leading median did not, or went the other way and the mean regressed: the p
  // value at most that the mean's share of the error leaves. 0: it does not decide. Throughput is its reciprocal, so that it is
  // part of this. Beside the run time of recordings it is the share of kRecordedOwn or kRecordedCpu. The median is to be compared
  // at its own share (Options::first_error_share).
  double mean_error = 0;
  // The metrics are a baseline's: the budget exceeded by the largest multiple decides where the leading metric did not regress.
  bool every_budget = false;
};

// Whether two metrics share the decision: the first is the median, and the mean is there; or the run time of recordings, and what
// is beside it.
bool shares_decision(const std::vector<MetricInput>& metrics);

// Lets the mean decide as DecisionRule says; empty: it does not, or a note of why.
std::string let_mean_decide(std::vector<MetricResult>& metrics, double mean_error);

// Lets what the program itself does (kRecordedOwn, else kRecordedCpu) decide where the run time of recordings does not and does
// not contradict it: the p value at most that its share of the error leaves. Empty: it does not, or a note of why. It never makes
// two sides equivalent.
std::string let_own_time_decide(std::vector<MetricResult>& metrics, double own_error);

// Moves the deciding metric to the front of `metrics` (not empty), which keep Holm's correction for being many.
SideVerdict decide(std::vector<MetricResult>& metrics, const DecisionRule& rule);

// The verdict where the facts forbid a comparison.
SideVerdict not_comparable();

// What to do next. `cause`: what to do about the suspected cause of the change; empty: no cause is known.
std::string recommend(const MetricResult& decided, const std::optional<std::string>& cause);
// The same where the sides differ in `key` and are not compared.
std::string recommend_not_comparable(std::string_view key);

// Gives the values of a metric of two traces the interval of their paired difference (its standard deviation in ns), half of the
// variance for each side. Metrics of one device, series, and values not above the half width stay as they are.
void narrow(std::vector<MetricInput>& metrics, std::string_view id, double deviation_ns);

}  // namespace aaco::analytics::regression
