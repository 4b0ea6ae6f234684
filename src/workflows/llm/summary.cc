#include "workflows/llm/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analytics/llm_ceiling.h"
#include "analytics/llm_connections.h"
#include "analytics/llm_energy.h"
#include "analytics/llm_slow.h"
#include "core/numbers.h"
#include "serving/rows.h"
#include "trace/sink.h"
#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

using analytics::llm::Load;
using analytics::llm::OwnLimit;
using analytics::llm::PrefillStalls;
using analytics::llm::ServerCause;
using analytics::llm::ServerState;
using core::Json;

constexpr double kLittleTolerance = 0.1;
constexpr double kMovesP99 = 0.01;           // slow times per request
constexpr std::int64_t kFewestThrough = 10;  // complete requests from which their rate is stated as the server's limit
constexpr const char* kPauseRemedy =
    "look for what stops the server's process: garbage collection, swapping, a lock, a snapshot (aaco llm --ebpf names what it "
    "waits "
    "for, where it runs on this machine)";

Json to_json(const OwnLimit& client) {
  Json out =
      Json::object({{"limited", client.limited}, {"saturated", client.saturated}, {"reasons", Json::texts(client.reasons)}});
  out.set_if("cpu_ratio", client.cpu_ratio).set_if("run_queue_ratio", client.run_queue_ratio);
  out.set_if("loop_lag_p50_ns", client.loop_lag_p50_ns).set_if("loop_lag_p99_ns", client.loop_lag_p99_ns);
  out.set_if("event_own_max_ns", client.event_own_max_ns);
  return out.set_if("vouched_per_second", client.vouched_per_second);
}

Json to_json(const ServerState& server, const std::optional<PrefillStalls>& stalls, const std::vector<ServerCause>& causes) {
  Json texts = Json::array(), ids = Json::array();
  for (const ServerCause& cause : causes) {
    texts.push(cause.text);
    ids.push(cause.id);
  }
  Json out = Json::object({{"causes", std::move(texts)}, {"cause_ids", std::move(ids)}});
  out.set_if("cpu_cores", server.cpu_cores).set_if("run_queue_ratio", server.run_queue_ratio);
  out.set_if("throttled_ratio", server.throttled_ratio);
  if (server.readings > 0) out.set("readings", server.readings);
  out.set_if("running_mean", server.running_mean).set_if("waiting_mean", server.waiting_mean);
  out.set_if("waiting_max", server.waiting_max).set_if("queued_share", server.queued_share);
  out.set_if("kv_cache_max_ratio", server.kv_cache_max_ratio).set_if("kv_cache_full_share", server.kv_cache_full_share);
  out.set_if("preemptions", server.preemptions);
  if (stalls)
    out.set("slow_gaps", Json::object({{"count", stalls->slow_gaps},
                                       {"median_ns", stalls->slow_gap_ns},
                                       {"usual_ns", stalls->usual_gap_ns},
                                       {"with_prefill", stalls->with_prefill},
                                       {"with_prefill_ratio", stalls->with_prefill_ratio},
                                       {"others_with_prefill_ratio", stalls->others_with_prefill_ratio},
                                       {"expected_ratio", stalls->expected_ratio}}));
  return out;
}

Json to_json(const analytics::llm::ConnectionWaits& waits) {
  Json out = Json::object({{"opened", waits.opened}, {"handshakes", waits.handshakes}, {"moved", Json::texts(waits.moved)}});
  out.set_if("connect_p50_ns", waits.connect_p50_ns).set_if("connect_max_ns", waits.connect_max_ns);
  out.set_if("handshake_p50_ns", waits.handshake_p50_ns).set_if("handshake_max_ns", waits.handshake_max_ns);
  out.set_if("handshake_own_max_ns", waits.handshake_own_max_ns);
  out.set_if("write_wait_max_ns", waits.write_wait_max_ns).set_if("record_wait_max_ns", waits.record_wait_max_ns);
  if (!waits.text.empty()) out.set("text", waits.text);
  return out;
}

Json to_json(const Load& load, const OwnLimit& client, const analytics::llm::Slo& slo) {
  Json failures = Json::object();
  for (const auto& [kind, count] : load.failures)
    failures.set(kind, Json::object({{"count", count}, {"example", load.examples.at(kind)}}));
  Json out = Json::object({{"load", load.name},
                           {"requests", load.requests},
                           {"complete", load.complete},
                           {"failures", std::move(failures)},
                           {"without_output", load.without_output},
                           {"duration_s", load.duration_s},
                           {"tokens_unknown", load.tokens_unknown}});
  if (load.reasoning_unsent > 0) out.set("reasoning_unsent", load.reasoning_unsent);
  if (load.usage_rejected > 0) out.set("usage_rejected", load.usage_rejected);
  if (load.retries > 0) out.set("retries", load.retries);
  if (load.at_once > 0) out.set("at_once", load.at_once);
  if (load.reconnects > 0) out.set("reconnects", load.reconnects);
  if (!load.drifts.empty()) out.set("drifts", Json::texts(load.drifts));
  if (!load.backlog.empty()) out.set("backlog", load.backlog);
  if (!load.groups.empty()) out.set("groups", load.groups);
  if (load.cancelled > 0) out.set("cancelled", load.cancelled).set_if("cancelled_after_ns", load.cancelled_after_ns);
  if (const std::string partly = partly_judged(load, slo); !partly.empty()) out.set("partly_judged", partly);
  out.set_if("steady_s", load.steady_s).set_if("little_open", load.little_open).set("mean_open", load.mean_open);
  out.set("metrics", trace::to_json(metrics_of(load, client))).set("client", to_json(client));
  return out;
}

// One warning for all levels of each verdict: the reason at the first of them, and the rate of the last. `undecided` as
// undecided_of() has it.
void warn_of_client(LlmSummary& summary, const std::vector<Load>& loads, const std::vector<OwnLimit>& limits,
                    std::string undecided) {
  for (const bool saturated : {true, false}) {
    std::string levels, reason, rate;
    std::string_view verdict;
    for (std::size_t i = 0; i < loads.size(); ++i) {
      if (!limits[i].limited || limits[i].saturated != saturated) continue;
      verdict = verdict_of(limits[i]);
      levels += (levels.empty() ? "" : ", ") + loads[i].name;
      if (reason.empty()) reason = limits[i].reasons.front();
      if (limits[i].vouched_per_second)
        rate = fmt::format("; results hold up to about {:.3g} requests/s", *limits[i].vouched_per_second);
    }
    if (levels.empty()) continue;
    const std::string also = std::exchange(undecided, {});
    summary.warnings.push_back({"llm.client_limit",
                                fmt::format("{}: {}: {}{}{}{}", levels, verdict, reason, rate, also.empty() ? "" : "; ", also),
                                rate.empty() ? "pin the client to a separate CPU without other work"
                                             : "pin the client to a separate CPU, or lower the load"});
  }
}

// Of a server that refuses requests beyond its rate limit.
std::string remedy_of_limit(const Load& load) {
  const std::string seen = load.complete >= kFewestThrough
                               ? fmt::format(" (it let {:.3g} requests/s through here)", load.rates.requests_per_second)
                               : std::string();
  return fmt::format(
      "stay below the server's rate limit{}: use --rate with a lower rate, or --retries, which waits as long as the "
      "server asks for",
      seen);
}

void warn(LlmSummary& summary, const Load& load) {
  if (load.cancelled > 0)
    summary.warnings.push_back({"llm.cancelled",
                                fmt::format("{}: the client cancelled {} {}{}, which count{} neither as complete nor as failed",
                                            load.name, load.cancelled, load.cancelled == 1 ? "request" : "requests",
                                            load.cancelled_after_ns ? fmt::format(" {} after sending (median)",
                                                                                  core::format_duration(*load.cancelled_after_ns))
                                                                    : std::string(),
                                            load.cancelled == 1 ? "s" : ""),
                                ""});
  for (const auto& [kind, count] : load.failures)
    summary.warnings.push_back({"llm.failures",
                                fmt::format("{}: {} of {} requests failed: {}{}", load.name, count, load.requests, kind,
                                            load.examples.at(kind).empty() ? "" : " (" + load.examples.at(kind) + ")"),
                                kind == "http_429" ? remedy_of_limit(load) : ""});
  if (load.in_ramp > 0)
    summary.warnings.push_back(
        {"llm.ramp",
         fmt::format("{}: {} of {} requests were due within the ramp: their latency counts, throughput is {}", load.name,
                     load.in_ramp, load.requests + load.cancelled,
                     load.steady ? "of the time after it" : "of the whole load, as the time after the ramp is too short"),
         load.steady ? "" : "use a longer --duration"});
  if (load.without_output > 0)
    summary.warnings.push_back({"llm.without_output",
                                fmt::format("{}: {} of {} complete responses have no output; they have no TTFT and no TPOT",
                                            load.name, load.without_output, load.complete),
                                "check the finish reasons (column finish_reason of llm_requests) and the server's filters"});
  if (is_buffered(load))
    summary.warnings.push_back(
        {"llm.buffered",
         fmt::format(
             "{}: {} of {} responses with several chunks were read in one piece: their TTFT is the time of the whole response, "
             "and the time per token is unknown",
             load.name, load.at_once, load.several_chunks),
         "check that the server and each proxy before it stream (proxy_buffering off, X-Accel-Buffering: no); tokens that "
         "follow each other within microseconds are also read together"});
  if (load.retries > 0)
    summary.warnings.push_back(
        {"llm.retries",
         fmt::format("{}: {}; the latency includes the failed attempts", load.name,
                     load.retries == 1 ? "1 attempt was repeated" : fmt::format("{} attempts were repeated", load.retries)),
         ""});
  if (load.reconnects > 0)
    summary.warnings.push_back(
        {"llm.reconnects",
         fmt::format(
             "{}: {} sent again: the server closed the kept-alive connection after a request was sent and before it answered; "
             "that alone does not count as a failure",
             load.name, load.reconnects == 1 ? "1 request was" : fmt::format("{} requests were", load.reconnects)),
         "check the server's keep-alive timeout and its log for dropped requests"});
  for (const std::string& drift : load.drifts)
    summary.warnings.push_back({"llm.drift", fmt::format("{}: {}", load.name, drift),
                                "the figures are of the whole load together: look at the latency over time"});
  if (!load.backlog.empty())
    summary.warnings.push_back({"llm.backlog", load.name + ": " + load.backlog,
                                "use a lower rate: latency grows with the length of the load, whatever it is now"});
  if (!load.groups.empty())
    summary.warnings.push_back({"llm.groups", fmt::format("{}: {}", load.name, load.groups),
                                "the median is not the time of either group: look for replicas of different speed"});
  if (load.reasoning_unsent > 0)
    summary.warnings.push_back(
        {"llm.reasoning_unsent",
         fmt::format("{}: {} of {} responses have tokens of a reasoning that the server did not send: TPOT, ITL and token "
                     "throughput are of the tokens that it sent",
                     load.name, load.reasoning_unsent, load.complete),
         ""});
  if (load.usage_rejected > 0)
    summary.warnings.push_back({"llm.usage",
                                fmt::format("{}: the usage of {} of {} responses is impossible and was not used: {}", load.name,
                                            load.usage_rejected, load.complete, load.usage_example),
                                "check how the server or gateway fills 'usage'"});
  if (load.tokens_unknown > 0)
    summary.warnings.push_back(
        {"llm.tokens_unknown",
         fmt::format("{}: no valid token count for {} of {} responses; TPOT and ITL are unavailable for them", load.name,
                     load.tokens_unknown, load.complete),
         load.tokens_unknown > load.usage_rejected
             ? "use a server that supports stream_options.include_usage, or count with --tokenizer"
             : "count with --tokenizer"});
  if (load.little_open && load.complete == load.requests && load.cancelled == 0 && load.mean_open > 0 &&
      std::abs(*load.little_open / load.mean_open - 1) > kLittleTolerance)
    summary.warnings.push_back(
        {"llm.little",
         fmt::format(
             "{}: throughput x latency gives {:.3g} open requests, {:.3g} were open: the load was not steady (Little's law)",
             load.name, *load.little_open, load.mean_open),
         "use a longer --duration"});
}

std::optional<double> joules_per_token(const std::vector<trace::SystemEventRow>& events,
                                       const std::vector<trace::GpuEventRow>& gpu, const trace::NameTable& names,
                                       std::int32_t machine, const Load& load, std::int64_t from, std::int64_t to) {
  const auto joules = analytics::llm::joules_of(events, gpu, names, machine, from, to);
  const double tokens = load.rates.output_tokens_per_second.value_or(0) * load.duration_s;
  return joules && tokens > 0 ? std::optional(*joules / tokens) : std::nullopt;
}

}  // namespace

std::string render_definitions(const Json& document) {
  std::string text;
  for (const Json& level : document["levels"].items()) {
    if (level["load"].text() != document["counts"].text()) continue;
    for (const auto& [tool, figures] : level["definitions"].members()) {
      text += fmt::format("\nAs {} defines it ({})\n  {:<12} {:>10} {:>10} {:>10}  definition\n", tool, level["load"].text(), "",
                          "mean", "P50", "P99");
      for (const Json& one : figures.items()) {
        const auto time = [&](const char* key) {
          const auto value = one[key].as_f64();
          return value ? core::format_duration(*value) : std::string("unknown");
        };
        text += fmt::format("  {:<12} {:>10} {:>10} {:>10}  {}\n", one["name"].text(), time("mean_ns"), time("p50_ns"),
                            time("p99_ns"), one["definition"].text());
      }
    }
  }
  return text;
}

Load measure_stage(const serving::StageOutcome& stage, const std::string& load, const analytics::llm::Slo& slo) {
  trace::MemorySink rows;
  serving::write_rows(stage, "measure", load, 0, rows);
  return analytics::llm::measure_load(rows.rows<trace::LlmRequestRow>(), rows.rows<trace::LlmChunkRow>(), rows.names(), slo);
}

core::Result<LlmSummary> summarize_llm(const std::string& session_path, const LlmSummaryOptions& options) {
  const analytics::llm::Slo& slo = options.slo;
  trace::NameTable names;
  AACO_ASSIGN(const auto requests, tracelake::read_table<trace::LlmRequestRow>(session_path, names));
  AACO_ASSIGN(const auto chunks, tracelake::read_table<trace::LlmChunkRow>(session_path, names));
  AACO_ASSIGN(const auto events, tracelake::read_table<trace::SystemEventRow>(session_path, names));
  AACO_ASSIGN(const auto gpu, tracelake::read_table<trace::GpuEventRow>(session_path, names));
  AACO_ASSIGN(const auto sched, tracelake::read_table<trace::SchedEventRow>(session_path, names));
  LlmSummary summary;
  const auto loads = analytics::llm::measure_loads(requests, chunks, names, slo, options.ramp_ns);
  const analytics::llm::SlowTokens slow_tokens(
      {events, gpu, sched, options.machine, options.server_sampled, options.clock_error_ns}, names);
  std::vector<bool> server_queued;
  std::vector<std::string> pauses;  // of each level, where they move its P99
  Json levels = Json::array();
  std::vector<OwnLimit> limits;
  std::string undecided;  // of the first such level
  std::vector<std::optional<double>> token_joules;
  for (const Load& load : loads) {
    std::int64_t from = INT64_MAX, to = INT64_MIN;
    for (const auto& row : requests) {
      if (names.text(row.load) != load.name || names.text(row.phase) != "measure") continue;
      from = std::min(from, row.scheduled_ns);
      to = std::max(to, row.end_ns);
    }
    const analytics::llm::OwnState own = analytics::llm::own_state(events, names, from, to);
    limits.push_back(judge_client(load, own));
    judge_ceiling(load, options.client_ceiling, limits.back());
    const auto connections = analytics::llm::judge_connections(load, own);
    judge_own_connections(connections, limits.back());
    Json level = to_json(load, limits.back(), slo);
    level.set("connections", to_json(connections));
    for (const std::string& moved : connections.moved)
      summary.warnings.push_back({"llm.connections", load.name + ": " + moved,
                                  "times from the send (llm.ttft_sent_*, llm.e2el_sent_*) do not include opening connections"});
    token_joules.push_back(options.server_sampled ? joules_per_token(events, gpu, names, options.machine, load, from, to)
                                                  : std::nullopt);
    level.set_if("energy_per_token_joules", token_joules.back());
    warn(summary, load);
    ServerState server = analytics::llm::server_state(events, names, from, to, options.machine);
    if (!options.server_sampled) server.cpu_cores = server.run_queue_ratio = server.throttled_ratio = {};  // of another process
    const auto stalls = analytics::llm::prefill_stalls(requests, chunks, names, load.name);
    const auto causes = server_causes(server, stalls, limits.back());
    const std::string also = undecided_of(server, limits.back());
    if (undecided.empty()) undecided = also;
    if (options.server_sampled || server.readings > 0 || stalls) {
      Json state = to_json(server, stalls, causes);
      if (!also.empty()) state.set("undecided", also);
      level.set("server", std::move(state));
    }
    for (const ServerCause& cause : causes)
      summary.warnings.push_back({"llm.server_cause", load.name + ": " + cause.text, cause.remedy});
    server_queued.push_back(std::any_of(causes.begin(), causes.end(), [](const ServerCause& one) { return one.id == "queue"; }));
    const auto slow = slow_tokens.find(requests, chunks, names, load.name);
    level.set("slow_tokens", to_json(slow).set("text", sentence_of(slow)));
    if (!slow.paused.empty()) summary.warnings.push_back({"llm.server_pause", load.name + ": " + slow.paused, kPauseRemedy});
    pauses.push_back(slow.paused_share >= kMovesP99 ? slow.paused : std::string());
    if (!options.definitions.empty()) {
      Json tools = Json::object();
      for (const auto tool : options.definitions)
        tools.set(to_string(tool), to_json(figures_as(tool, requests, chunks, names, load.name)));
      level.set("definitions", std::move(tools));
    }
    levels.push(std::move(level));
    summary.complete += load.complete;
    summary.failed += load.requests - load.complete;
    summary.cancelled += load.cancelled;
    if (summary.failure.empty() && !load.examples.empty()) summary.failure = load.examples.begin()->second;
  }
  summary.document = Json::object({{"schema_version", 1}, {"levels", std::move(levels)}});
  if (!slo.empty()) summary.document.set("slo", to_string(slo));
  if (loads.empty()) {
    summary.sentence = "no request was measured";
    summary.document.set("summary", summary.sentence);
    return summary;
  }
  warn_of_client(summary, loads, limits, undecided);
  const auto curve = judge_curve(loads, slo, server_queued);
  const std::size_t counts = level_that_counts(loads, curve);
  summary.metrics = metrics_of(loads[counts], limits[counts]);
  if (token_joules[counts]) summary.metrics.push_back({"llm.energy_per_token_joules", *token_joules[counts], "J", {}, {}});
  const auto& rates = rates_that_count(loads[counts]);
  if (options.price_per_hour && rates.output_tokens_per_second && *rates.output_tokens_per_second > 0)
    summary.metrics.push_back(
        {"llm.cost_per_million_tokens", *options.price_per_hour / 3600 / *rates.output_tokens_per_second * 1e6, "price", {}, {}});
  summary.sentence =
      fmt::format("{} at {}{}", sentence_of(loads[counts], slo), loads[counts].name, curve_sentence(loads, curve, slo));
  if (!pauses[counts].empty()) summary.sentence += "; " + pauses[counts];
  summary.document.set("counts", loads[counts].name).set("summary", summary.sentence);
  if (curve.knee) summary.document.set("knee", loads[*curve.knee].name);
  return summary;
}

}  // namespace aaco::workflows
