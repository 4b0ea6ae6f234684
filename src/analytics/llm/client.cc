#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "analytics/llm.h"
#include "analytics/llm/client_stalls.h"
#include "analytics/llm/lag_floor.h"
#include "core/numbers.h"

namespace aaco::analytics::llm {
namespace {

// A sample is the largest lag of four ticks (serving::OwnState): a quantile of the ticks is that of the samples at the fourth
// power of its probability.
constexpr double kTicksPerSample = 4;
// How finely values and lags are added up.
constexpr std::size_t kMaxValues = 1000, kLagQuantiles = 200;

std::optional<double> mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Of the lag of a tick, where `samples` are sorted.
double tick_quantile(const std::vector<double>& samples, double probability) {
  return stats::quantile_of_sorted(samples, std::pow(probability, kTicksPerSample));
}

// What three quarters of the samples exceed: of the time on and waiting for a CPU together. A client with room left has idle
// windows, whatever the ramp and the drain are like.
double mostly_busy(const OwnState& state) {
  if (state.cpu_ratio.empty()) return 0;
  std::vector<double> busy = state.cpu_ratio;
  if (state.run_queue_ratio.size() == busy.size())
    for (std::size_t i = 0; i < busy.size(); ++i) busy[i] += state.run_queue_ratio[i];
  std::sort(busy.begin(), busy.end());
  return stats::quantile_of_sorted(busy, 0.25);
}

std::vector<double> evenly(std::size_t count, const auto& quantile) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = quantile((static_cast<double>(i) + 0.5) / static_cast<double>(count));
  return values;
}

// Of the ticks, evenly.
std::vector<double> lags_of(const std::vector<double>& samples) {
  return evenly(kLagQuantiles, [&](double p) { return tick_quantile(samples, p); });
}

// Of a gap between two chunks, which the lag of its end lengthens and that of its beginning shortens.
std::vector<double> lags_of_gaps(const std::vector<double>& samples) {
  const auto lags = lags_of(samples);
  std::vector<double> differences;
  differences.reserve(lags.size() * lags.size());
  for (const double end : lags)
    for (const double begin : lags) differences.push_back(end - begin);
  std::sort(differences.begin(), differences.end());
  return evenly(kLagQuantiles, [&](double p) { return stats::quantile_of_sorted(differences, p); });
}

// What the lags added to a quantile, estimated by adding them once more: the quantile of value + lag less that of value + 0, so
// that it is at most the greatest lag. The lag is independent of the values; where they scatter more than it does, a quantile
// moves by little more than its mean.
double added_by_lag(const std::vector<double>& values, const std::vector<double>& lags, double probability) {
  const auto some =
      values.size() <= kMaxValues ? values : evenly(kMaxValues, [&](double p) { return stats::quantile_of_sorted(values, p); });
  std::vector<double> sums, alone;
  for (std::vector<double>* all : {&sums, &alone}) all->reserve(some.size() * lags.size());
  for (const double value : some)
    for (const double lag : lags) {
      sums.push_back(value + lag);
      alone.push_back(value);
    }
  std::sort(sums.begin(), sums.end());
  return stats::quantile_of_sorted(sums, probability) - stats::quantile_of_sorted(alone, probability);
}

// The reason, where `lags` of the event loop, the greatest of which is `greatest`, may have moved the quantile of these values,
// ascending or unknown.
std::optional<std::string> moved(std::string_view name, const std::optional<stats::Quantile>& result, double probability,
                                 const std::vector<double>& values, const std::vector<double>& lags, double greatest) {
  if (!result || lags.empty()) return std::nullopt;
  const double added = values.empty() ? stats::quantile_of_sorted(lags, probability) : added_by_lag(values, lags, probability);
  if (!matters(added, *result)) return std::nullopt;
  return fmt::format("the client's event loop was up to {} late, which may have moved {} ({}) by {}",
                     core::format_duration(greatest), name, core::format_duration(result->value), core::format_duration(added));
}

// What the lag of the event loop moved. A client that is starved of a CPU reads chunks late besides first tokens; another one
// is late where it is busy, and then most chunks come together.
std::vector<std::string> moved_by_lag(const Load& load, const std::vector<double>& samples, bool starved) {
  std::vector<std::string> reasons;
  if (samples.empty()) return reasons;
  const auto lags = lags_of(samples), gap_lags = starved && !is_buffered(load) ? lags_of_gaps(samples) : std::vector<double>();
  const auto& gaps = load.inter_chunk;
  const double greatest = samples.back();
  for (auto reason : {moved("the median TTFT", load.ttft.p50, 0.5, load.ttft_values, lags, greatest),
                      moved("the TTFT P99", load.ttft.p99, 0.99, load.ttft_values, lags, greatest),
                      moved("the median gap between chunks", gaps.p50, 0.5, load.gap_values, gap_lags, greatest),
                      moved("the P95 of the gaps between chunks", gaps.p95, 0.95, load.gap_values, gap_lags, greatest)})
    if (reason) reasons.push_back(*std::move(reason));
  return reasons;
}

// The reason, where so many of `count` events took the client so long to read and parse that the quantile may be theirs. The
// samples have every event that is long enough to matter.
std::optional<std::string> read_long(std::string_view name, const std::optional<stats::Quantile>& result, double probability,
                                     std::int64_t count, std::vector<double> events) {
  if (!result) return std::nullopt;
  std::sort(events.begin(), events.end(), std::greater<>());
  const auto beyond = static_cast<std::size_t>((1 - probability) * static_cast<double>(count));
  if (beyond >= events.size() || !matters(events[beyond], *result)) return std::nullopt;
  return fmt::format("the client took {} or longer to read and parse each of {} events, which may have moved {} ({}) by as much",
                     core::format_duration(events[beyond]), beyond + 1, name, core::format_duration(result->value));
}

}  // namespace

OwnState own_state(std::span<const trace::SystemEventRow> events, const trace::NameTable& names, std::int64_t from_ns,
                   std::int64_t to_ns) {
  OwnState state;
  for (const auto& row : events) {
    if (row.time_ns < from_ns || row.time_ns > to_ns) continue;
    const std::string_view metric = names.text(row.metric);
    if (metric == "client.loop_lag_ns") {
      state.loop_lag_ns.push_back(row.value);
      if (row.value >= static_cast<double>(kStallNs))
        state.stalls.push_back({row.time_ns - static_cast<std::int64_t>(row.value), row.time_ns});
    }
    if (metric == "client.cpu_ratio") state.cpu_ratio.push_back(row.value);
    if (metric == "client.run_queue_ratio") state.run_queue_ratio.push_back(row.value);
    if (metric == "client.write_wait_ns") state.write_wait_ns.push_back(row.value);
    if (metric == "client.tls_record_wait_ns") state.tls_record_wait_ns.push_back(row.value);
    if (metric == "client.event_own_ns") state.event_own_ns.push_back(row.value);
    if (metric == "client.gap_own_ns") state.gap_own_ns.push_back(row.value);
    if (metric == "client.tls_own_ns") state.tls_own_ns.push_back(row.value);
  }
  return state;
}

OwnLimit judge_client(const Load& load, const OwnState& state) {
  OwnLimit limit{.cpu_ratio = mean(state.cpu_ratio), .run_queue_ratio = mean(state.run_queue_ratio)};
  for (const auto* events : {&state.event_own_ns, &state.gap_own_ns})
    for (const double own : *events) limit.event_own_max_ns = std::max(own, limit.event_own_max_ns.value_or(0));
  std::vector<double> lags = state.loop_lag_ns;
  std::sort(lags.begin(), lags.end());
  if (!lags.empty()) {
    limit.loop_lag_p50_ns = tick_quantile(lags, 0.5);
    limit.loop_lag_p99_ns = tick_quantile(lags, 0.99);
  }
  const double busy = std::max(limit.cpu_ratio.value_or(0) + limit.run_queue_ratio.value_or(0), mostly_busy(state));
  if (busy > kBusyClient)
    limit.reasons.push_back(fmt::format("the client's thread was on or waiting for a CPU {} of the time ({} on it, {} waiting)",
                                        core::format_percent(busy), core::format_percent(limit.cpu_ratio.value_or(0)),
                                        core::format_percent(limit.run_queue_ratio.value_or(0))));
  const bool starved = limit.run_queue_ratio.value_or(0) > std::max(kStarvedClient, limit.cpu_ratio.value_or(0));
  auto by_lag = moved_by_lag(load, lags, starved);
  if (starved && busy <= kBusyClient && !by_lag.empty())
    by_lag.front() = fmt::format("the client's thread waited for a CPU {} of the time, longer than it ran ({}): {}",
                                 core::format_percent(*limit.run_queue_ratio), core::format_percent(limit.cpu_ratio.value_or(0)),
                                 by_lag.front());
  for (std::string& reason : by_lag) limit.reasons.push_back(std::move(reason));
  for (std::string& reason : moved_by_stalls(load, state)) limit.reasons.push_back(std::move(reason));
  const auto& gaps = load.inter_chunk;  // ITL is them, divided by their tokens
  for (auto reason : {read_long("the median TTFT", load.ttft.p50, 0.5, load.complete, state.event_own_ns),
                      read_long("the TTFT P99", load.ttft.p99, 0.99, load.complete, state.event_own_ns),
                      read_long("the median gap between chunks", gaps.p50, 0.5, gaps.count, state.gap_own_ns),
                      read_long("the P95 of the gaps between chunks", gaps.p95, 0.95, gaps.count, state.gap_own_ns),
                      read_long("the P99 of the gaps between chunks", gaps.p99, 0.99, gaps.count, state.gap_own_ns)})
    if (reason) limit.reasons.push_back(*std::move(reason));
  limit.limited = !limit.reasons.empty();
  limit.saturated = busy > kBusyClient;
  // One that waits for a CPU longer than it runs would wait at lower rates, too.
  if (limit.saturated && limit.cpu_ratio.value_or(0) > limit.run_queue_ratio.value_or(0))
    limit.vouched_per_second = load.rates.requests_per_second * kVouchedClient / busy;
  return limit;
}

std::string_view verdict_of(const OwnLimit& client) {
  return client.saturated ? "the client was the bottleneck" : "the client's own delay may have moved results";
}

}  // namespace aaco::analytics::llm
