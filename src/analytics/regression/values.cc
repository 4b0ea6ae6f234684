#include "analytics/regression/values.h"

#include <algorithm>
#include <cmath>

#include "stats/detectable.h"
#include "stats/distributions.h"
#include "stats/proportion.h"

namespace aaco::analytics::regression {
namespace {

constexpr double kManyDegrees = 1e6;  // an interval that came with a value is taken as normal
constexpr double kNormal95 = 1.959963984540054;

struct Logs {
  std::vector<double> values;
  double mean = 0;
  double variance = 0;  // of a value
};

Logs logs_of(const std::vector<SessionSample>& side) {
  Logs logs;
  for (const SessionSample& sample : side) logs.values.push_back(std::log(*sample.value));
  const auto count = static_cast<double>(logs.values.size());
  for (double value : logs.values) logs.mean += value / count;
  for (double value : logs.values)
    if (count > 1) logs.variance += (value - logs.mean) * (value - logs.mean) / (count - 1);
  return logs;
}

// Variance of the log of the one value, from its own interval.
std::optional<double> own_variance(const SessionSample& sample) {
  if (!sample.ci95 || !(sample.ci95->low > 0) || !(sample.ci95->high >= sample.ci95->low)) return std::nullopt;
  return std::pow(std::log(sample.ci95->high / sample.ci95->low) / (2 * kNormal95), 2);
}

// Standard error and degrees of freedom after Welch and Satterthwaite; a side of one value borrows the other's variance.
LogChange change_of(const Logs& a, const Logs& b) {
  const auto na = static_cast<double>(a.values.size()), nb = static_cast<double>(b.values.size());
  const double va = (na > 1 ? a.variance : b.variance) / na;
  const double vb = (nb > 1 ? b.variance : a.variance) / nb;
  LogChange change{b.mean - a.mean, std::sqrt(va + vb), 1};
  const double fa = na > 1 ? na - 1 : nb - 1, fb = nb > 1 ? nb - 1 : na - 1;
  change.degrees_of_freedom = va + vb > 0 ? (va + vb) * (va + vb) / (va * va / fa + vb * vb / fb) : fa + fb;
  return change;
}

bool all_zero(const std::vector<SessionSample>& side) {
  return std::all_of(side.begin(), side.end(), [](const SessionSample& sample) { return *sample.value == 0; });
}

bool all_equal(const Logs& logs) {
  return std::all_of(logs.values.begin(), logs.values.end(), [&](double value) { return value == logs.values.front(); });
}

// Trials of all sessions of a side together.
struct Share {
  double value = 0;
  stats::Interval interval;
};

std::optional<Share> share_of(const std::vector<SessionSample>& side) {
  std::int64_t trials = 0, successes = 0;
  for (const SessionSample& sample : side) {
    if (!sample.trials || *sample.trials <= 0 || *sample.value < 0 || *sample.value > 1) return std::nullopt;
    trials += *sample.trials;
    successes += std::llround(*sample.value * static_cast<double>(*sample.trials));
  }
  if (successes == 0 || successes > trials) return std::nullopt;
  return Share{static_cast<double>(successes) / static_cast<double>(trials), stats::proportion_interval(successes, trials)};
}

// Shares that are all equal scatter by nothing and are still uncertain. The error of the log of the ratio of two shares, from
// their own limits (Zou and Donner, Statistics in Medicine 27, 2008), half of the width of both sides.
std::optional<double> share_error(const MetricInput& metric) {
  const auto a = share_of(metric.a), b = share_of(metric.b);
  if (!a || !b || !(a->interval.low > 0) || !(b->interval.low > 0)) return std::nullopt;
  const double down = std::hypot(std::log(b->value / b->interval.low), std::log(a->interval.high / a->value));
  const double up = std::hypot(std::log(b->interval.high / b->value), std::log(a->value / a->interval.low));
  return (down + up) / 2 / kNormal95;
}

double mean_value(const std::vector<SessionSample>& side) {
  double sum = 0;
  for (const SessionSample& sample : side) sum += *sample.value / static_cast<double>(side.size());
  return sum;
}

}  // namespace

void judge_change(const LogChange& change, const MetricInput& metric, const Options& options, MetricResult& result) {
  const double critical =
      change.standard_error > 0 ? stats::student_t_quantile((1 + options.level) / 2, change.degrees_of_freedom) : 0;
  const double reach = critical * change.standard_error;
  result.delta_ratio = std::expm1(change.change);
  result.interval = stats::Interval{std::expm1(change.change - reach), std::expm1(change.change + reach)};
  result.noise = stats::ChangeNoise{change.standard_error, change.degrees_of_freedom};
  result.detectable = stats::smallest_detectable(*result.noise, {metric.threshold_ratio, options.level, options.power});
  result.p_value = stats::change_p_value(change.change, change.standard_error, change.degrees_of_freedom);
  const bool lower = metric.better != Better::higher;
  const bool assume = result.method == Method::interval && !options.assumption_widens;
  const double assumed = assume ? std::sqrt(2.0) * std::log1p(options.assumed_between_ratio) : 0;
  result.shares = stats::verdict_shares(change.change, std::hypot(change.standard_error, assumed), change.degrees_of_freedom,
                                        metric.threshold_ratio, lower);
  result.verdict = stats::judge(*result.interval, metric.threshold_ratio, lower);
}

void compare_values(const MetricInput& metric, const Options& options, MetricResult& result) {
  result.baseline = mean_value(metric.a);
  result.candidate = mean_value(metric.b);
  const auto positive = [](const SessionSample& sample) { return *sample.value > 0; };
  if (all_zero(metric.a) && all_zero(metric.b)) {
    result.method = Method::exact;
    return judge_change({0, 0, 1}, metric, options, result);
  }
  if (!std::all_of(metric.a.begin(), metric.a.end(), positive) || !std::all_of(metric.b.begin(), metric.b.end(), positive)) {
    result.reason = "values must be positive to compare by ratio";
    return;
  }
  const Logs a = logs_of(metric.a), b = logs_of(metric.b);
  result.delta_ratio = std::expm1(b.mean - a.mean);
  if (metric.exact && all_equal(a) && all_equal(b)) {
    result.method = Method::exact;
    result.between_sessions_known = a.values.size() > 1 || b.values.size() > 1;
    return judge_change({b.mean - a.mean, 0, 1}, metric, options, result);
  }
  if (a.values.size() > 1 || b.values.size() > 1) {
    result.method = Method::values;
    result.between_sessions_known = true;
    LogChange change = change_of(a, b);
    if (const auto own = share_error(metric); own && *own > change.standard_error) {
      change.standard_error = *own;
      change.degrees_of_freedom = kManyDegrees;
    }
    return judge_change(change, metric, options, result);
  }
  if (const auto own = share_error(metric)) {
    result.method = Method::interval;
    return judge_change({b.mean - a.mean, *own, kManyDegrees}, metric, options, result);
  }
  const auto va = own_variance(metric.a.front()), vb = own_variance(metric.b.front());
  if ((!va || !vb) && metric.unit == "ns" && options.assumption_widens && options.assumed_between_ratio > 0) {
    result.method = Method::interval;
    const double assumed = std::sqrt(2.0) * std::log1p(options.assumed_between_ratio);
    return judge_change({b.mean - a.mean, assumed, kManyDegrees}, metric, options, result);
  }
  if (!va || !vb) {
    result.reason = "one value per side and unknown variance: give several sessions per side";
    return;
  }
  result.method = Method::interval;
  const double assumed = options.assumption_widens ? std::sqrt(2.0) * std::log1p(options.assumed_between_ratio) : 0;
  judge_change({b.mean - a.mean, std::hypot(std::sqrt(*va + *vb), assumed), kManyDegrees}, metric, options, result);
}

}  // namespace aaco::analytics::regression
