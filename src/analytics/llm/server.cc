#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "analytics/llm.h"
#include "core/numbers.h"

namespace aaco::analytics::llm {
namespace {

class Mean {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  [[nodiscard]] std::optional<double> value() const { return count_ == 0 ? std::optional<double>() : sum_ / count_; }

 private:
  double sum_ = 0, count_ = 0;
};

void raise(std::optional<double>& most, double value) { most = std::max(most.value_or(value), value); }

std::string count_text(double value) { return fmt::format("{:.3g}", value); }

void add_cpu_causes(const ServerState& server, std::vector<ServerCause>& causes) {
  if (server.cpu_cores && server.run_queue_ratio && *server.run_queue_ratio > kServerWaitFloor) {
    const double share = *server.run_queue_ratio / (*server.run_queue_ratio + *server.cpu_cores);
    if (share > kServerWaits)
      causes.push_back({"cpu_wait",
                        fmt::format("the server waited for a CPU {} of the time it had work ({:.2f} CPUs used)",
                                    core::format_percent(share), *server.cpu_cores),
                        "give the server dedicated CPUs"});
  }
  if (server.throttled_ratio.value_or(0) > kServerThrottled)
    causes.push_back({"throttled",
                      fmt::format("the CPU limit of the control group throttled the server {} of the time",
                                  core::format_percent(*server.throttled_ratio)),
                      "raise the CPU limit of the server's control group"});
}

void add_own_causes(const ServerState& server, std::vector<ServerCause>& causes) {
  if (server.readings < kFewestReadings) return;
  if (server.queued_share.value_or(0) > kServerQueues)
    causes.push_back(
        {"queue",
         fmt::format("requests waited in the server's queue: {} on average, up to {}, in {} of {} readings of its metrics",
                     count_text(server.waiting_mean.value_or(0)), count_text(server.waiting_max.value_or(0)),
                     core::format_percent(*server.queued_share), server.readings),
         "lower the load, or raise the number of requests the server batches"});
  const bool full = server.kv_cache_full_share.value_or(0) > kKvCacheFullShare;
  const bool evicted = server.preemptions.value_or(0) > 0;
  if (!full && !evicted) return;
  std::string text;
  if (full)
    text = fmt::format("the KV cache was at least {} full in {} of {} readings", core::format_percent(kKvCacheFull),
                       core::format_percent(*server.kv_cache_full_share), server.readings);
  if (evicted)
    text += fmt::format("{}the server evicted requests from its KV cache {} times and computed them again",
                        text.empty() ? "" : "; ", count_text(*server.preemptions));
  causes.push_back({"kv_cache", std::move(text), "give the KV cache more memory, or limit the requests in a batch"});
}

// Whether the client's lag cannot have made gaps as slow.
bool is_beyond_client(const PrefillStalls& stalls, const OwnLimit& client) {
  if (!client.limited) return true;
  return !client.saturated && client.loop_lag_p99_ns &&
         stalls.slow_gap_ns - stalls.usual_gap_ns > kFarBeyondLag * *client.loop_lag_p99_ns;
}

}  // namespace

ServerState server_state(std::span<const trace::SystemEventRow> events, const trace::NameTable& names, std::int64_t from_ns,
                         std::int64_t to_ns, std::int32_t machine) {
  Mean cores, waits, throttled, running, waiting, queued, full;
  ServerState state;
  std::optional<double> first_preemptions, last_preemptions;
  for (const auto& row : events) {
    if (row.time_ns < from_ns || row.time_ns > to_ns) continue;
    const std::string_view metric = names.text(row.metric);
    const bool process = row.rank == machine;
    if (process && metric == "process.cpu_use_cores" && names.text(row.entity) == "tree") cores.add(row.value);
    if (process && metric == "process.run_queue_wait_ratio") waits.add(row.value);
    if (process && metric == "cgroup.throttled_ratio") throttled.add(row.value);
    if (!metric.starts_with("server.")) continue;
    if (metric == "server.reading_ns") ++state.readings;
    if (metric == "server.running_requests") running.add(row.value);
    if (metric == "server.waiting_requests") {
      waiting.add(row.value);
      queued.add(row.value >= 1 ? 1 : 0);
      raise(state.waiting_max, row.value);
    }
    if (metric == "server.kv_cache_used_ratio") {
      full.add(row.value >= kKvCacheFull ? 1 : 0);
      raise(state.kv_cache_max_ratio, row.value);
    }
    if (metric == "server.preemption_count") {
      if (!first_preemptions) first_preemptions = row.value;
      last_preemptions = row.value;
    }
  }
  state.cpu_cores = cores.value();
  state.run_queue_ratio = waits.value();
  state.throttled_ratio = throttled.value();
  state.running_mean = running.value();
  state.waiting_mean = waiting.value();
  state.queued_share = queued.value();
  state.kv_cache_full_share = full.value();
  if (first_preemptions) state.preemptions = std::max(0.0, *last_preemptions - *first_preemptions);
  return state;
}

std::vector<ServerCause> server_causes(const ServerState& server, const std::optional<PrefillStalls>& stalls,
                                       const OwnLimit& client) {
  std::vector<ServerCause> causes;
  if (!client.limited) add_cpu_causes(server, causes);    // the client's waits are those of a busy machine, and so may be these
  if (!client.saturated) add_own_causes(server, causes);  // a server that is read slowly may queue for that
  if (stalls && stalls_tokens(*stalls) && is_beyond_client(*stalls, client))
    causes.push_back(
        {"prefill",
         fmt::format(
             "the prefill of other requests stalled tokens: {} of {} gaps of {} (usual {}) coincide with one, {} of the "
             "other gaps{}",
             stalls->with_prefill, stalls->slow_gaps, core::format_duration(stalls->slow_gap_ns),
             core::format_duration(stalls->usual_gap_ns), core::format_percent(stalls->others_with_prefill_ratio),
             stalls->whole_prefill ? "" : "; each is a part of a prompt only, so the server already computes them in chunks"),
         stalls->whole_prefill ? "use chunked prefill, shorter prompts or separate prefill servers"
                               : "use smaller chunks (fewer tokens per step), shorter prompts or separate prefill servers"});
  return causes;
}

std::string undecided_of(const ServerState& server, const OwnLimit& client) {
  std::vector<ServerCause> causes;
  if (client.limited) add_cpu_causes(server, causes);
  std::string text;
  for (const ServerCause& cause : causes) text += (text.empty() ? "" : "; ") + cause.text;
  return text.empty() ? text : text + "; how much of the latency is the server's and how much the client's is unknown";
}

}  // namespace aaco::analytics::llm
