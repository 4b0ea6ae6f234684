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
  const Rates& rates = rates_that_count(load);
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

std::string sentence_of(const Load& load, const Slo& slo) {
  if (load.requests == 0 && load.cancelled == 0) return "no request was sent";
  if (load.requests == 0) return fmt::format("all {} requests were cancelled", load.cancelled);
  if (load.complete == 0) return fmt::format("all {} requests failed", load.requests);
  const Rates& rates = rates_that_count(load);
  const std::int64_t failed = load.requests - load.complete;
  std::string text;
  if (fails_often(load)) text = fmt::format("{} of {} requests failed; those that did not: ", failed, load.requests);
  text += fmt::format("{} requests/s", rate_text(rates.requests_per_second));
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
  if (failed > 0 && !fails_often(load)) text += fmt::format("; {} of {} requests failed", failed, load.requests);
  return text;
}

}  // namespace aaco::analytics::llm
