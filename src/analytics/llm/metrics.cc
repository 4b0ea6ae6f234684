#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "analytics/llm.h"
#include "core/numbers.h"
#include "stats/proportion.h"

namespace aaco::analytics::llm {
namespace {

std::optional<trace::Interval> interval_of(const std::optional<stats::Interval>& interval) {
  if (!interval) return std::nullopt;
  return trace::Interval{interval->low, interval->high};
}

void add_summary(trace::Metrics& metrics, const std::string& name, const stats::Summary& summary) {
  if (summary.mean) metrics.push_back({"llm." + name + "_mean_ns", *summary.mean, "ns", interval_of(summary.mean_ci95), {}});
  const auto quantile = [&](const char* which, const std::optional<stats::Quantile>& value) {
    // A tail that its values do not bound is left out.
    if (value && (value->ci95 || std::string_view(which) == "p50"))
      metrics.push_back({"llm." + name + "_" + which + "_ns", value->value, "ns", interval_of(value->ci95), {}});
  };
  quantile("p50", summary.p50);
  quantile("p90", summary.p90);
  quantile("p95", summary.p95);
  quantile("p99", summary.p99);
}

void add_share(trace::Metrics& metrics, std::string id, double share, std::int64_t requests) {
  const auto good = std::clamp<std::int64_t>(std::llround(share * static_cast<double>(requests)), 0, requests);
  metrics.push_back({std::move(id), share, "ratio", interval_of(stats::proportion_interval(good, requests)), {}});
}

// "12.4", "1,066".
std::string rate_text(double per_second) {
  return per_second < 1000 ? fmt::format("{:.3g}", per_second) : core::format_count(per_second);
}

void add(trace::Metrics& metrics, std::string id, const std::optional<double>& value, std::string unit) {
  if (value) metrics.push_back({std::move(id), *value, std::move(unit), {}, {}});
}

// An open loop ("rate 10/s") loads by its rate: beyond the server's capacity the open requests grow without a higher load.
double load_ratio(const Load& before, const Load& after) {
  const bool open_loop = after.name.starts_with("rate ") && before.offered_per_second > 0;
  return open_loop ? after.offered_per_second / before.offered_per_second : after.mean_open / std::max(1e-9, before.mean_open);
}

// Throughput grew by at least kKneeGain of what the load grew.
bool still_grows(const Load& before, const Load& after) {
  const double load_growth = load_ratio(before, after) - 1;
  const double growth = after.rates.requests_per_second / std::max(1e-9, before.rates.requests_per_second) - 1;
  return growth >= kKneeGain * load_growth;
}

// The time that an answer takes once its work has begun, of the two levels the longer; both have the medians.
double answer_ns(const Load& lowest, const Load& load) {
  return std::max(lowest.e2el.p50->value, load.e2el.p50->value - load.ttft.p50->value);
}

// Requests wait for others before their own work begins: the median TTFT is above that of the lowest level by kQueueShare of the
// time that an answer takes, and the intervals are apart.
bool queues(const Load& lowest, const Load& load) {
  if (!lowest.ttft.p50 || !load.ttft.p50 || !lowest.e2el.p50 || !load.e2el.p50) return false;
  const stats::Quantile &before = *lowest.ttft.p50, &now = *load.ttft.p50;
  return now.value - before.value > kQueueShare * answer_ns(lowest, load) &&
         (!before.ci95 || !now.ci95 || now.ci95->low > before.ci95->high);
}

// A quarter of the requests does, which the median does not show.
bool quarter_queues(const Load& lowest, const Load& load) {
  if (!lowest.ttft.p50 || !load.ttft.p50 || !load.ttft.q3 || !lowest.e2el.p50 || !load.e2el.p50) return false;
  return *load.ttft.q3 - lowest.ttft.p50->value > kQueueShare * answer_ns(lowest, load);
}

// Whether a later level has a higher throughput than `at`, beyond the interval of its mean latency (throughput is the open
// requests over it), but at most kSameThroughput.
bool is_exceeded(std::span<const Load> loads, std::size_t at) {
  constexpr double kMinThroughput = 0.01, kSameThroughput = 0.05;  // relative
  const Load& load = loads[at];
  double interval = 0;
  if (load.e2el.mean && load.e2el.mean_ci95 && *load.e2el.mean > 0)
    interval = (load.e2el.mean_ci95->high - load.e2el.mean_ci95->low) / 2 / *load.e2el.mean;
  const double most = load.rates.requests_per_second * (1 + std::clamp(interval, kMinThroughput, kSameThroughput));
  return std::any_of(loads.begin() + static_cast<std::ptrdiff_t>(at) + 1, loads.end(),
                     [&](const Load& later) { return later.rates.requests_per_second > most; });
}

}  // namespace

trace::Metrics metrics_of(const Load& load, const OwnLimit& client) {
  trace::Metrics metrics;
  metrics.push_back({"llm.request_count", static_cast<double>(load.requests), "count", {}, {}});
  metrics.push_back({"llm.failed_count", static_cast<double>(load.requests - load.complete), "count", {}, {}});
  if (load.requests > 0) add_share(metrics, "llm.availability_ratio", load.availability_ratio, load.requests);
  add_summary(metrics, "ttft", load.ttft);
  add_summary(metrics, "ttft_sent", load.ttft_sent);
  add_summary(metrics, "tpot", load.tpot);
  if (load.itl_known) add_summary(metrics, "itl", load.itl);
  add_summary(metrics, "inter_chunk", load.inter_chunk);
  add_summary(metrics, "e2el", load.e2el);
  add_summary(metrics, "e2el_sent", load.e2el_sent);
  add_summary(metrics, "client_queue", load.client_queue);
  const Rates& rates = load.steady ? *load.steady : load.rates;
  add(metrics, "llm.requests_per_second", rates.requests_per_second, "1/s");
  add(metrics, "llm.output_tokens_per_second", rates.output_tokens_per_second, "1/s");
  add(metrics, "llm.prompt_tokens_per_second", rates.prompt_tokens_per_second, "1/s");
  if (load.offered_per_second > 0) add(metrics, "llm.offered_per_second", load.offered_per_second, "1/s");
  add(metrics, "llm.goodput_per_second", load.goodput_per_second, "1/s");
  if (load.good_ratio && load.judged > 0) {
    add_share(metrics, "llm.good_ratio", *load.good_ratio, load.judged);
    if (load.judged < load.requests) metrics.push_back({"llm.judged_count", static_cast<double>(load.judged), "count", {}, {}});
  }
  add(metrics, "llm.effective_concurrency", load.mean_open, "count");
  add(metrics, "llm.tokens_per_chunk", load.tokens_per_chunk, "count");
  add(metrics, "llm.client_cpu_ratio", client.cpu_ratio, "ratio");
  add(metrics, "llm.client_run_queue_ratio", client.run_queue_ratio, "ratio");
  add(metrics, "llm.client_loop_lag_p99_ns", client.loop_lag_p99_ns, "ns");
  return metrics;
}

bool keeps(const Load& load, const Slo& slo) {
  // The P99 where the sample states it, otherwise the highest quantile that it states.
  const auto top = [](const stats::Summary& summary) {
    return summary.p99 ? summary.p99 : summary.p95 ? summary.p95 : summary.p90 ? summary.p90 : summary.p50;
  };
  const auto within = [&](const stats::Summary& summary, const std::optional<std::int64_t>& limit) {
    const auto quantile = top(summary);
    return !limit || (quantile && quantile->value <= static_cast<double>(*limit));
  };
  // Responses of one token alone have no time per token, and keep every limit on it.
  const bool one_token_each = load.tpot_unknown == 0 && load.without_output == 0 && load.tpot.count == 0;
  return load.complete > 0 && load.availability_ratio >= 0.99 && !is_unjudged(load, slo) && within(load.ttft, slo.ttft_ns) &&
         (one_token_each || (within(load.tpot, slo.tpot_ns) && within(load.inter_chunk, slo.itl_ns))) &&
         within(load.e2el, slo.e2el_ns);
}

bool is_unjudged(const Load& load, const Slo& slo) {
  return (slo.tpot_ns && 2 * load.tpot_unknown > load.complete) || (slo.itl_ns && 2 * load.itl_unknown > load.complete);
}

std::string partly_judged(const Load& load, const Slo& slo) {
  const bool tpot = slo.tpot_ns && load.tpot_unknown > 0, itl = slo.itl_ns && load.itl_unknown > 0;
  if (!tpot && !itl) return {};
  const std::string_view time = tpot && itl ? "TPOT and ITL" : tpot ? "TPOT" : "ITL";
  const std::string_view verb = tpot && itl ? "are" : "is";
  if (!load.good_ratio)
    return fmt::format("{} {} known for {} of {} responses, too few for a share within {}", time, verb, load.judged,
                       load.complete, to_string(slo));
  return fmt::format("{} of {} requests {}whose {} {} known within {} ({} unknown)", load.good, load.judged,
                     load.complete < load.requests ? "that failed or " : "", time, verb, to_string(slo),
                     load.requests - load.judged);
}

Curve judge_curve(std::span<const Load> loads, const Slo& slo) {
  Curve curve;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (!slo.empty() && keeps(loads[i], slo)) curve.last_within_slo = i;
    if (i == 0) continue;
    const bool grows = still_grows(loads[i - 1], loads[i]);
    curve.flat_steps = grows ? 0 : curve.flat_steps + 1;
    if (!curve.queues && queues(loads.front(), loads[i])) {
      curve.knee = i - 1;
      curve.queues = true;
    }
    if (!curve.knee && !grows) curve.knee = i - 1;
  }
  // Where requests wait already and a lower level has the throughput, that one is the knee. One processor that all requests share
  // has its throughput from the start, and nobody waits until the slots are taken.
  while (curve.queues && *curve.knee > 0 && quarter_queues(loads.front(), loads[*curve.knee]) &&
         !is_exceeded(loads, *curve.knee - 1))
    --*curve.knee;
  return curve;
}

std::string sentence_of(const Load& load, const Slo& slo) {
  if (load.requests == 0 && load.cancelled == 0) return "no request was sent";
  if (load.requests == 0) return fmt::format("all {} requests were cancelled", load.cancelled);
  if (load.complete == 0) return fmt::format("all {} requests failed", load.requests);
  const Rates& rates = load.steady ? *load.steady : load.rates;
  std::string text = fmt::format("{} requests/s", rate_text(rates.requests_per_second));
  const bool open_loop = !load.name.starts_with("concurrency ");
  if (open_loop && rates.requests_per_second < (1 - kBehindSchedule) * load.offered_per_second)
    text += fmt::format(" of {} due", rate_text(load.offered_per_second));
  if (rates.output_tokens_per_second) text += fmt::format(", {} output tokens/s", rate_text(*rates.output_tokens_per_second));
  const bool bounded = load.ttft.p99 && load.ttft.p99->ci95;  // a tail that its values do not bound is left out
  const auto& top = bounded ? load.ttft.p99 : load.ttft.p50;
  if (top) text += fmt::format(", TTFT {} {}", bounded ? "P99" : "median", core::format_duration(top->value));
  if (load.tpot.p50 && load.tpot.p50->value > 0) text += fmt::format(", TPOT {}", core::format_duration(load.tpot.p50->value));
  if (const std::string partly = partly_judged(load, slo); !partly.empty())
    text += "; " + partly;
  else if (load.good_ratio)
    text += fmt::format("; {} of requests within {}", core::format_percent(*load.good_ratio), to_string(slo));
  if (load.complete < load.requests)
    text += fmt::format("; {} of {} requests failed", load.requests - load.complete, load.requests);
  return text;
}

}  // namespace aaco::analytics::llm
