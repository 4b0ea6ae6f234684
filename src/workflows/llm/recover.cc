#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "core/files.h"
#include "tracelake/bundle.h"
#include "workflows/llm.h"
#include "workflows/llm/request_journal.h"
#include "workflows/llm/summary.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::int64_t kSameBootNs = 1'000'000'000;  // within one boot the difference moves by what NTP corrects

core::Status check_killed(const trace::SessionManifest& manifest, const std::string& path, const Services& services) {
  const std::string& id = manifest.id.text;
  if (manifest.kind != "llm")
    return core::fail(ErrorCode::invalid_input,
                      fmt::format("session {} is of kind {}, not a load on a server", id, manifest.kind));
  if (manifest.whole())
    return core::fail(ErrorCode::invalid_input, fmt::format("session {} is {}: nothing to recover", id, manifest.state));
  AACO_ASSIGN(const auto entries, tracelake::list_sessions(services.paths.sessions));
  for (const tracelake::SessionEntry& entry : entries)
    if (entry.path == path && entry.writer && entry.writer->alive)
      return core::fail(ErrorCode::conflict,
                        fmt::format("session {} is still being measured (process {})", id, entry.writer->process_id),
                        "wait for it to end");
  return {};
}

// Real time less monotonic time.
std::optional<std::int64_t> boot_of(const trace::ClockGraph& clocks) {
  for (const trace::ClockPair& pair : clocks.pairs())
    if (pair.a.clock == core::ClockId::realtime && pair.b.clock == core::ClockId::monotonic) return pair.a.ns - pair.b.ns;
  return std::nullopt;
}

// A session with a new id and the time, clocks, command, request and tag of the killed one.
core::Result<SessionDraft> begin_again(const trace::SessionManifest& killed, const Services& services) {
  AACO_ASSIGN(SessionDraft draft, SessionDraft::begin(killed.kind, killed.tag, killed.request, services));
  trace::SessionManifest& manifest = draft.manifest();
  const auto now = boot_of(manifest.clocks), then = boot_of(killed.clocks);
  if (!now || !then || std::abs(*now - *then) > kSameBootNs)
    draft.warn("llm.clocks", "recovered after a restart of the machine: the times of day of the requests are unreliable");
  manifest.created_realtime_ns = killed.created_realtime_ns;
  manifest.command = killed.command;
  manifest.tool_version = killed.tool_version;
  manifest.clocks = killed.clocks;
  return draft;
}

// The environment record, written before the load began, and the fingerprint in it.
core::Status take_environment(const std::string& path, SessionDraft& draft) {
  const std::string file = core::join_path(path, "env.json");
  if (!core::exists(file)) return {};
  AACO_ASSIGN(const Json environment, core::read_json_file(file));
  draft.manifest().fingerprint = std::string(environment["fingerprint"]["hash"].text());
  return draft.writer().write_json("env.json", environment);
}

// Requests and, of complete answers, iterations; the stretches of the phases.
void write_journal(std::vector<trace::LlmRequestRow> rows, const trace::NameTable& names, SessionDraft& draft) {
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.scheduled_ns < b.scheduled_ns; });
  trace::Sink& sink = draft.sink();
  std::int64_t iteration = 0;
  for (trace::LlmRequestRow row : rows) {
    const std::string_view phase = names.text(row.phase), outcome = names.text(row.outcome);
    auto& phases = draft.manifest().phases;
    const auto known = std::find_if(phases.begin(), phases.end(), [&](const auto& one) { return one.name == phase; });
    if (known == phases.end())
      draft.phase(std::string(phase), row.scheduled_ns, row.end_ns);
    else
      known->end_ns = std::max(known->end_ns, row.end_ns);
    if (outcome == "ok") {
      trace::IterationRow call{.iteration = iteration++, .phase = sink.name(phase)};
      call.start_ns = row.scheduled_ns;
      call.duration_ns = row.end_ns - row.scheduled_ns;
      sink.add(call);
    }
    for (trace::NameId trace::LlmRequestRow::*text :
         {&trace::LlmRequestRow::phase, &trace::LlmRequestRow::load, &trace::LlmRequestRow::outcome,
          &trace::LlmRequestRow::detail, &trace::LlmRequestRow::finish_reason, &trace::LlmRequestRow::token_source})
      row.*text = sink.name(names.text(row.*text));
    sink.add(row);
  }
}

}  // namespace

core::Result<LlmOutcome> recover_llm(const std::string& name, const Services& services) {
  AACO_ASSIGN(const std::string path, tracelake::find_session(services.paths.sessions, name));
  AACO_ASSIGN(const trace::SessionManifest killed, tracelake::read_manifest(path));
  AACO_TRY(check_killed(killed, path, services));
  trace::NameTable names;
  AACO_ASSIGN(auto rows, read_request_journal(path, names));
  if (rows.empty())
    return core::fail(ErrorCode::invalid_input,
                      fmt::format("no request of session {} had ended when it was killed", killed.id.text), "measure again");
  const std::size_t count = rows.size();
  AACO_ASSIGN(SessionDraft draft, begin_again(killed, services));
  AACO_TRY(take_environment(path, draft));
  write_journal(std::move(rows), names, draft);
  AACO_TRY(draft.writer().flush());
  LlmSummaryOptions options{
      .slo = {}, .price_per_hour = killed.request["price_per_hour"].as_f64(), .client_ceiling = {}, .definitions = {}};
  options.ramp_ns = killed.request["ramp_ns"].as_i64().value_or(0);
  if (const auto slo = killed.request["slo"].text(); !slo.empty()) {
    AACO_ASSIGN(options.slo, analytics::llm::parse_slo(slo));
  }
  AACO_ASSIGN(LlmSummary summary, summarize_llm(draft.writer().path(), options));
  AACO_TRY(draft.writer().write_json("metrics/llm_summary.json", summary.document));
  for (trace::Warning& warning : summary.warnings) draft.manifest().warnings.push_back(std::move(warning));
  draft.warn(
      "llm.recovered",
      fmt::format("recovered from the journal of the killed run {}: {} requests that had ended; requests that were open, "
                  "those that ended in the last moments before the kill and were not written yet, chunks and telemetry are "
                  "lost",
                  killed.id.text, count),
      "TTFT, TPOT and E2EL hold for the requests that ended; ITL and the client's own state are unknown");
  trace::Outcome& stored = draft.manifest().outcome;
  stored.model = std::string(killed.request["model"].text());
  stored.llm = Json::object({{"url", killed.request["url"]}, {"recovered_from", killed.id.text}, {"summary", summary.sentence}});
  LlmOutcome outcome;
  outcome.all_failed = summary.complete == 0;
  outcome.failure = summary.failure;
  AACO_ASSIGN(outcome.session, draft.finish(std::move(summary.metrics), true));
  AACO_TRY(tracelake::remove_session(path));
  return outcome;
}

}  // namespace aaco::workflows
