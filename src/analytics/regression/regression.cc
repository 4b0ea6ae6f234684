#include "analytics/regression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analytics/recorded_time.h"
#include "analytics/regression/values.h"
#include "core/numbers.h"
#include "stats/multiple.h"

namespace aaco::analytics::regression {
namespace {

using stats::Verdict;

constexpr double kFarthest = 1e12;  // of a change: two measurements of one thing never differ so much

bool has_series(const std::vector<SessionSample>& side) {
  return !side.empty() &&
         std::all_of(side.begin(), side.end(), [](const SessionSample& sample) { return !sample.series.empty(); });
}

bool has_values(const std::vector<SessionSample>& side) {
  return !side.empty() && std::all_of(side.begin(), side.end(),
                                      [](const SessionSample& sample) { return sample.value && std::isfinite(*sample.value); });
}

std::vector<std::vector<double>> series_of(const std::vector<SessionSample>& side) {
  std::vector<std::vector<double>> all;
  for (const SessionSample& sample : side) all.push_back(sample.series);
  return all;
}

void take(const stats::Comparison& compared, MetricResult& result) {
  result.method = Method::bootstrap;
  result.verdict = compared.verdict;
  result.baseline = compared.baseline;
  result.candidate = compared.candidate;
  result.delta_ratio = compared.delta_ratio;
  result.interval = compared.interval;
  result.noise = compared.noise;
  result.detectable = compared.detectable;
  result.between_sessions_known = compared.between_sessions_known;
  result.welch = compared.welch;
  result.rank = compared.rank;
  result.shift = compared.shift;
  result.p_value = compared.p_value;
  result.more_sessions = compared.more_sessions;
  result.third_session_within_ratio = compared.third_session_within_ratio;
  result.more_iterations = compared.more_iterations;
  result.explanation = compared.explanation;
}

constexpr stats::StatisticChoice kMedianStatistic = 0.5;

// Where the median of a series jumps between two modes: the middle fifth of the values spans most of what the middle four fifths
// span (of a normal distribution 20 %, of a uniform one 25 %), and more than the threshold.
std::optional<stats::Interval> modes_around_median(const MetricInput& metric) {
  constexpr std::size_t kFewest = 20;
  constexpr double kMostly = 0.5;
  std::optional<stats::Interval> found;
  for (const auto* side : {&metric.a, &metric.b})
    for (const SessionSample& sample : *side) {
      if (sample.series.size() < kFewest) continue;
      std::vector<double> sorted = sample.series;
      std::sort(sorted.begin(), sorted.end());
      const auto at = [&](double quantile) {
        return sorted[static_cast<std::size_t>(quantile * static_cast<double>(sorted.size() - 1))];
      };
      const double low = at(0.4), high = at(0.6);
      if (!(low > 0) || high / low - 1 <= metric.threshold_ratio || high - low < kMostly * (at(0.9) - at(0.1))) continue;
      if (!found || high / low > found->high / found->low) found = stats::Interval{at(0.25), at(0.75)};
    }
  return found;
}

double reciprocal_change(double ratio) { return 1 / (1 + ratio) - 1; }

// The same comparison of scale / x: deltas and interval turn over, the tests of x do not.
void turn_over(double scale, const MetricInput& metric, MetricResult& result) {
  result.baseline = scale / *result.baseline;
  result.candidate = scale / *result.candidate;
  result.delta_ratio = reciprocal_change(*result.delta_ratio);
  result.interval = stats::Interval{reciprocal_change(result.interval->high), reciprocal_change(result.interval->low)};
  result.verdict = stats::judge(*result.interval, metric.threshold_ratio, metric.better != Better::higher);
  if (result.rank) result.rank->superiority_ratio = 1 - result.rank->superiority_ratio;
  result.welch.reset();
  result.shift.reset();
  result.explanation.clear();
}

void compare_series(const MetricInput& metric, const Options& options, MetricResult& result) {
  stats::CompareOptions how;
  how.threshold_ratio = metric.threshold_ratio;
  how.level = options.level;
  how.power = options.power;
  how.lower_is_better = metric.better != Better::higher;
  how.statistic = metric.statistic;
  how.resamples = options.resamples;
  how.seed = options.seed;
  how.history_deviation_ratio = options.history_deviation_ratio;
  how.history_count = options.history_count;
  if (options.assumption_widens) how.assumed_deviation_ratio = options.assumed_between_ratio;
  const auto compared = stats::compare(series_of(metric.a), series_of(metric.b), how);
  if (!compared) {
    const core::Error& error = compared.error();
    result.reason = error.message + (error.remedy.empty() ? "" : ": " + error.remedy);
    return;
  }
  take(*compared, result);
  const bool over = metric.reciprocal_of.has_value();
  const bool allowed_for = compared->between_sessions_known || compared->between_sessions_assumed;
  const double assumed = allowed_for ? 0 : std::sqrt(2.0) * std::log1p(options.assumed_between_ratio);
  result.shares =
      stats::verdict_shares(over ? -compared->log_change : compared->log_change, std::hypot(compared->standard_error, assumed),
                            compared->degrees_of_freedom, metric.threshold_ratio, metric.better != Better::higher);
  if (over) turn_over(*metric.reciprocal_of, metric, result);
}

std::string describe(const MetricResult& result) {
  if (result.method == Method::none) return "no verdict: " + result.reason;
  std::string text = fmt::format("{}: {}", to_string(result.verdict), core::format_signed_percent(*result.delta_ratio));
  if (result.method == Method::exact) return text + " (exact count)";
  text += fmt::format(", CI {} to {}, threshold {}", core::format_signed_percent(result.interval->low),
                      core::format_signed_percent(result.interval->high), core::format_percent(result.threshold_ratio));
  if (!result.between_sessions_known) text += "; one session per side, so the variance between sessions is unknown";
  return text;
}

std::string interval_text(const MetricResult& result) {
  if (!result.interval) return "";
  return fmt::format(" (CI {} to {})", core::format_signed_percent(result.interval->low),
                     core::format_signed_percent(result.interval->high));
}

// "12 values".
std::string values_of(const std::vector<SessionSample>& side) {
  std::size_t count = 0;
  for (const SessionSample& sample : side) count += std::max<std::size_t>(1, sample.series.size());
  return core::format_count(static_cast<double>(count)) + (count == 1 ? " value" : " values");
}

MetricResult without_verdict(const MetricInput& metric, std::string reason) {
  MetricResult result;
  result.id = metric.id;
  result.unit = metric.unit;
  result.scope = metric.scope;
  result.device = metric.device;
  result.threshold_ratio = metric.threshold_ratio;
  result.reason = std::move(reason);
  return result;
}

bool within_reach(const MetricResult& result) {
  const auto near = [](double ratio) { return std::abs(ratio) < kFarthest; };  // NaN is not
  return near(*result.delta_ratio) && (!result.interval || (near(result.interval->low) && near(result.interval->high)));
}

MetricResult compare_one(const MetricInput& metric, const Options& options) {
  MetricResult result = without_verdict(metric, metric.not_judged);
  if (!metric.not_judged.empty()) {
    result.explanation = describe(result);
    return result;
  }
  if (has_series(metric.a) && has_series(metric.b))
    compare_series(metric, options, result);
  else if (has_values(metric.a) && has_values(metric.b))
    compare_values(metric, options, result);
  else
    result.reason = "missing from at least one session";
  if (result.delta_ratio && !within_reach(result)) {
    const auto a = result.baseline, b = result.candidate;
    result = without_verdict(
        metric, fmt::format("{} and {} {} are too far apart to compute a ratio", a.value_or(0), b.value_or(0), metric.unit));
  }
  if (metric.better == Better::neither && result.verdict != Verdict::equivalent && result.verdict != Verdict::inconclusive) {
    result.verdict = Verdict::inconclusive;
    result.explanation = "changed by " + core::format_signed_percent(*result.delta_ratio) + interval_text(result) +
                         "; neither direction is better for this metric, so no verdict is given";
  }
  if (result.explanation.empty()) result.explanation = describe(result);
  if (result.verdict == Verdict::inconclusive && result.method != Method::none)
    result.explanation += fmt::format("; {} and {}", values_of(metric.a), values_of(metric.b));
  return result;
}

bool is_change(const MetricResult& result) {
  return result.verdict == Verdict::regression || result.verdict == Verdict::improvement;
}

// The error that is set aside for a metric that shares the decision; empty: it has none, and Holm's correction counts it.
// Throughput is the mean over again. The 90 % quantile takes the place of a median between two modes.
std::optional<double> own_error(const MetricResult& result, const std::vector<MetricResult>& all, const Options& options) {
  const MetricResult& first = all.front();
  if (options.first_error_share >= 1) return std::nullopt;
  const double error = 1 - options.level;
  if (result.id == kMeanLatency || result.id == kThroughput) return kMeanErrorShare * error;
  if (first.id == kRecordedTime && result.id == beside_run_time(all)) return kMeanErrorShare * error;
  if (result.id == kTailLatency && first.modes) return kMedianErrorShare * error;
  return std::nullopt;
}

// What a correction asks beside the interval: a p value of at most `error` that nothing changed.
void ask_for(double error, const Options& options, MetricResult& result) {
  if (result.noise)
    result.detectable =
        stats::smallest_detectable(*result.noise, {result.threshold_ratio, options.level, options.power, 1 - error});
}

void withdraw_above(double error, MetricResult& result) {
  result.p_holm = result.p_value;
  if (!is_change(result) || *result.p_value <= error) return;
  result.verdict = Verdict::inconclusive;
  result.corrected = true;
  result.explanation =
      fmt::format("inconclusive: {}; a change this large may be chance (p = {:.3f}, its share of the error is {:.3f})",
                  core::format_signed_percent(*result.delta_ratio), *result.p_value, error);
}

void correct(std::vector<MetricResult>& results, const Options& options) {
  const double level = options.level;
  std::vector<double> p_values;
  std::vector<MetricResult*> tested;
  for (std::size_t i = 1; i < results.size(); ++i) {
    if (!results[i].p_value) continue;
    if (const auto error = own_error(results[i], results, options)) {
      ask_for(*error, options, results[i]);
      withdraw_above(*error, results[i]);
      continue;
    }
    p_values.push_back(*results[i].p_value);
    tested.push_back(&results[i]);
  }
  const auto holm = stats::holm_adjusted(p_values), q = stats::benjamini_hochberg_adjusted(p_values);
  for (std::size_t i = 0; i < tested.size(); ++i) {
    MetricResult& result = *tested[i];
    ask_for((1 - level) / static_cast<double>(tested.size()), options, result);  // of one that changes alone
    result.p_holm = holm[i];
    result.q_value = q[i];
    if (!is_change(result) || holm[i] <= 1 - level) continue;
    result.verdict = Verdict::inconclusive;
    result.corrected = true;
    result.explanation = fmt::format(
        "inconclusive: {}; with {} metrics tested, a change this large may be chance (p = {:.3f} after Holm correction)",
        core::format_signed_percent(*result.delta_ratio), tested.size(), holm[i]);
  }
}

}  // namespace

std::string_view to_string(Method method) {
  constexpr std::array<std::string_view, 6> kNames = {"none", "bootstrap", "values", "interval", "exact", "paired"};
  return kNames[static_cast<std::size_t>(method)];
}

std::vector<MetricResult> compare(const std::vector<MetricInput>& metrics, const Options& options) {
  std::vector<MetricResult> results;
  for (const MetricInput& metric : metrics) {
    Options own = options;
    if (results.empty()) own.level = 1 - options.first_error_share * (1 - options.level);
    results.push_back(compare_one(metric, own));
    if (results.size() == 1 && metric.statistic == kMedianStatistic) results.front().modes = modes_around_median(metric);
  }
  correct(results, options);
  for (MetricResult& result : results)
    if (result.detectable && result.method != Method::exact)
      result.explanation += fmt::format("; smallest detectable change {} at {} power", to_text(*result.detectable),
                                        core::format_percent(options.power));
  return results;
}

namespace {
// A finer threshold finds smaller changes and makes none of them worse: one change has one severity in 'aaco diff' and 'aaco ab'.
constexpr double kSeverityUnit = 0.05;
}  // namespace

std::string_view severity_of(const MetricResult& result) {
  if (result.verdict != Verdict::regression || !result.delta_ratio) return "none";
  const double size = std::abs(*result.delta_ratio), unit = std::max(result.threshold_ratio, kSeverityUnit);
  if (size >= 4 * unit) return "critical";
  return size >= 2 * unit ? "major" : "minor";
}

double confidence_of(const MetricResult& result) {
  constexpr double kMax = 0.9999;  // of what is measured; resampling says no more
  if (result.method == Method::none) return 0;
  const double largest = std::max({result.shares.regression, result.shares.equivalent, result.shares.improvement});
  const double share = result.verdict == Verdict::regression    ? result.shares.regression
                       : result.verdict == Verdict::improvement ? result.shares.improvement
                       : result.verdict == Verdict::equivalent  ? result.shares.equivalent
                                                                : largest;
  return result.method == Method::exact ? share : std::min(share, kMax);
}

}  // namespace aaco::analytics::regression
