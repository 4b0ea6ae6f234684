#include "workflows/llm_causes/slow_causes.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/files.h"
#include "core/json.h"
#include "core/numbers.h"
#include "tracelake/bundle.h"
#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

using analytics::llm::Load;

analytics::llm::OwnLimit client_limit(const core::Json& summary, const std::string& load) {
  analytics::llm::OwnLimit limit;
  for (const core::Json& level : summary["levels"].items()) {
    if (level["load"].text() != load) continue;
    limit.limited = level["client"]["limited"].as_bool().value_or(false);
    limit.saturated = level["client"]["saturated"].as_bool().value_or(limit.limited);
    limit.loop_lag_p99_ns = level["client"]["loop_lag_p99_ns"].as_f64();
    limit.run_queue_ratio = level["client"]["run_queue_ratio"].as_f64();
  }
  return limit;
}

}  // namespace

core::Result<LoadSpan> load_span(const std::string& session_path, const trace::SessionManifest& manifest) {
  LoadSpan span{manifest.clocks, core::join_path(session_path, "env.json"), INT64_MAX, INT64_MIN};
  for (const trace::Phase& phase : manifest.phases) {
    if (phase.name != "measure") continue;
    span.from_ns = std::min(span.from_ns, phase.start_ns);
    span.to_ns = std::max(span.to_ns, phase.end_ns);
  }
  if (span.from_ns >= span.to_ns) return core::fail(core::ErrorCode::invalid_input, "the session has no measured load");
  return span;
}

core::Result<ObservedCauses> observed_causes(const std::string& session_path, const std::string& observed_path) {
  AACO_ASSIGN(const auto manifest, tracelake::read_manifest(session_path));
  if (manifest.kind != "llm")
    return core::fail(
        core::ErrorCode::invalid_argument,
        fmt::format("session {} is of kind {}: --observe requires a load on a server", manifest.id.text, manifest.kind),
        "'aaco ls' lists sessions and kinds");
  AACO_ASSIGN(const LoadSpan span, load_span(session_path, manifest));
  trace::NameTable names;
  ObservedCauses out;
  AACO_ASSIGN(out.server, read_observed(observed_path, span, names));
  AACO_ASSIGN(const auto requests, tracelake::read_table<trace::LlmRequestRow>(session_path, names));
  AACO_ASSIGN(const auto chunks, tracelake::read_table<trace::LlmChunkRow>(session_path, names));
  AACO_ASSIGN(auto events, tracelake::read_table<trace::SystemEventRow>(session_path, names));
  AACO_ASSIGN(const core::Json summary, core::read_json_file(core::join_path(session_path, "metrics/llm_summary.json")));
  std::erase_if(events, [](const auto& row) { return row.rank == analytics::llm::kObservedRank; });
  events.insert(events.end(), out.server.events.begin(), out.server.events.end());
  std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  const analytics::llm::SlowTokens tokens({.events = events,
                                           .gpu = out.server.gpu,
                                           .sched = out.server.sched,
                                           .machine = analytics::llm::kObservedRank,
                                           .server_process = true,
                                           .clock_error_ns = out.server.clock_error_ns},
                                          names);
  const auto loads = analytics::llm::measure_loads(requests, chunks, names, {});
  for (const Load& load : loads) {
    out.levels.emplace_back(load.name, tokens.find(requests, chunks, names, load.name));
    std::int64_t from = INT64_MAX, to = INT64_MIN;
    for (const auto& row : requests) {
      if (names.text(row.load) != load.name || names.text(row.phase) != "measure") continue;
      from = std::min(from, row.scheduled_ns);
      to = std::max(to, row.end_ns);
    }
    const auto state = analytics::llm::server_state(events, names, from, to, analytics::llm::kObservedRank);
    const auto stalls = analytics::llm::prefill_stalls(requests, chunks, names, load.name);
    for (const auto& cause : server_causes(state, stalls, client_limit(summary, load.name)))
      out.causes.push_back(load.name + ": " + cause.text);
  }
  return out;
}

std::string describe(const ObservedServer& server) {
  std::string text = fmt::format("recording {}{}", server.session_id, server.host.empty() ? "" : " on " + server.host);
  if (server.same_clock)
    text += ", same clock as the client";
  else if (server.synchronised)
    text += ", clocks joined to ± " + core::format_duration(static_cast<double>(server.clock_error_ns));
  else
    text += ", joined by real-time clocks that are not stated to be synchronised: their error is unknown";
  if (server.covered_ratio < 0.99) text += fmt::format("; it covers {} of the load", core::format_percent(server.covered_ratio));
  return text;
}

}  // namespace aaco::workflows
