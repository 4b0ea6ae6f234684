#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "analytics/llm/lag_floor.h"
#include "analytics/llm_connections.h"
#include "core/numbers.h"

namespace aaco::analytics::llm {
namespace {

using Result = std::optional<stats::Quantile>;

std::optional<double> longest(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return *std::max_element(values.begin(), values.end());
}

std::optional<double> median_of(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return stats::quantile_of_sorted(values, 0.5);
}

// What opening connections added to a quantile of TTFT; `at_most_ns` of each.
double added_by_opening(const Load& load, double probability, double at_most_ns) {
  std::vector<double> connected = load.ttft_of_open_connections;
  for (const auto& opened : load.opened) connected.push_back(opened.ttft_ns - std::min(opened.connect_ns, at_most_ns));
  if (connected.empty() || load.ttft_values.empty()) return 0;
  std::sort(connected.begin(), connected.end());
  return stats::quantile_of_sorted(load.ttft_values, probability) - stats::quantile_of_sorted(connected, probability);
}

// Waits that every (1 - probability) of `count` events exceed. A window has its longest wait only, so this is a lower bound.
double exceeded(std::vector<double> waits, double probability, std::int64_t count) {
  const auto place = static_cast<std::size_t>(std::ceil((1 - probability) * static_cast<double>(count)));
  if (place == 0 || waits.size() < place) return 0;
  std::nth_element(waits.begin(), waits.begin() + static_cast<std::ptrdiff_t>(place - 1), waits.end(), std::greater<>());
  return waits[place - 1];
}

struct Named {
  const char* name;
  const Result& result;
  double probability;
};

void judge_opening(const Load& load, ConnectionWaits& waits) {
  for (const Named& one : {Named{"the median TTFT", load.ttft.p50, 0.5}, Named{"the TTFT P99", load.ttft.p99, 0.99}}) {
    if (!one.result || load.opened.empty()) continue;
    const double added = added_by_opening(load, one.probability, INFINITY);
    if (!matters(added, *one.result)) continue;
    std::string sentence = fmt::format("opening connections added {} to {} ({}): {} of {} requests opened one in {} (median)",
                                       core::format_duration(added), one.name, core::format_duration(one.result->value),
                                       waits.opened, load.ttft_values.size(), core::format_duration(*waits.connect_p50_ns));
    if (waits.handshakes > 0)
      sentence += fmt::format(", of which {} were the TLS handshake", core::format_duration(*waits.handshake_p50_ns));
    const double own = added_by_opening(load, one.probability, waits.handshake_own_max_ns.value_or(0));
    // Mostly the client's own: another client would have measured another time.
    if (matters(own, *one.result) && own > added / 2 && waits.limit.empty())
      waits.limit = fmt::format("the client's own part of TLS handshakes (up to {}) may have added {} to {} ({})",
                                core::format_duration(*waits.handshake_own_max_ns), core::format_duration(own), one.name,
                                core::format_duration(one.result->value));
    waits.moved.push_back(std::move(sentence));
  }
}

void judge_sockets(const Load& load, const OwnState& state, ConnectionWaits& waits) {
  const auto judge = [&](const std::vector<double>& series, const char* what, const Named& one, std::int64_t count) {
    if (!one.result) return;
    const double added = exceeded(series, one.probability, count);
    if (matters(added, *one.result))
      waits.moved.push_back(fmt::format("{} for up to {}, which may have added {} to {} ({})", what,
                                        core::format_duration(*longest(series)), core::format_duration(added), one.name,
                                        core::format_duration(one.result->value)));
  };
  const char* const write = "the socket did not take requests";
  judge(state.write_wait_ns, write, {"the median TTFT", load.ttft.p50, 0.5}, load.requests);
  judge(state.write_wait_ns, write, {"the TTFT P99", load.ttft.p99, 0.99}, load.requests);
  const char* const record = "parts of TLS records waited for their end";
  judge(state.tls_record_wait_ns, record, {"the median gap between chunks", load.inter_chunk.p50, 0.5}, load.inter_chunk.count);
  judge(state.tls_record_wait_ns, record, {"the P99 of the gaps between chunks", load.inter_chunk.p99, 0.99},
        load.inter_chunk.count);
}

std::string handshakes_text(const Load& load, const ConnectionWaits& waits) {
  if (waits.handshakes == 0) return {};
  std::string text =
      fmt::format("{} of {} requests opened a TLS connection: handshake median {}, longest {}", waits.handshakes, load.complete,
                  core::format_duration(*waits.handshake_p50_ns), core::format_duration(*waits.handshake_max_ns));
  if (waits.handshake_own_max_ns)
    text += fmt::format("; the client's own part at most {}", core::format_duration(*waits.handshake_own_max_ns));
  return text;
}

}  // namespace

ConnectionWaits judge_connections(const Load& load, const OwnState& state) {
  ConnectionWaits waits;
  std::vector<double> connects, handshakes;
  for (const auto& opened : load.opened) {
    connects.push_back(opened.connect_ns);
    if (opened.tls_ns) handshakes.push_back(*opened.tls_ns);
  }
  waits.opened = static_cast<std::int64_t>(connects.size());
  waits.handshakes = static_cast<std::int64_t>(handshakes.size());
  waits.connect_max_ns = longest(connects);
  waits.connect_p50_ns = median_of(std::move(connects));
  waits.handshake_max_ns = longest(handshakes);
  waits.handshake_p50_ns = median_of(std::move(handshakes));
  waits.handshake_own_max_ns = longest(state.tls_own_ns);
  waits.write_wait_max_ns = longest(state.write_wait_ns);
  waits.record_wait_max_ns = longest(state.tls_record_wait_ns);
  judge_opening(load, waits);
  judge_sockets(load, state, waits);
  waits.text = handshakes_text(load, waits);
  return waits;
}

void judge_own_connections(const ConnectionWaits& waits, OwnLimit& limit) {
  if (waits.limit.empty()) return;
  limit.limited = true;
  limit.reasons.push_back(waits.limit);
}

}  // namespace aaco::analytics::llm
