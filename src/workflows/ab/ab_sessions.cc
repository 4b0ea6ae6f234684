#include "workflows/ab/ab_sessions.h"

#include "core/files.h"
#include "hardware/secrets.h"
#include "workflows/ab_json.h"
#include "workflows/compare/diff_rootcause.h"
#include "workflows/diff_sides.h"
#include "workflows/session/table_metrics.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr const char* kNames[] = {"A", "B"};

void store_calls(trace::Sink& sink, const std::vector<runner::TimedCall>& calls, std::string_view phase, std::int64_t block,
                 std::int64_t& number) {
  trace::IterationRow row;
  row.phase = sink.name(phase);
  row.block = block;
  for (const runner::TimedCall& call : calls) {
    row.iteration = number++;
    row.start_ns = call.start_ns;
    row.duration_ns = call.duration_ns;
    sink.add(row);
  }
}

Json words_json(const std::vector<std::string>& words) {
  Json out = Json::texts(hardware::without_secrets(words));
  return out;
}

core::Status write_lockbox(SessionDraft& draft, const AbLoaded& loaded, const AbSide& side) {
  AACO_TRY(draft.writer().write_json("runtime/ort_config.json", loaded.described["runtime"]));
  return draft.write_lockbox(
      loaded.facts(side),
      Json::object({{std::string(loaded.described["runtime"]["runtime"].text()), loaded.described["runtime_version"]}}));
}

}  // namespace

core::Result<AbSessions> AbSessions::begin(const AbRequest& request, const AbProcesses& first, const Services& services) {
  AbSessions sessions;
  for (int number = 0; number < 2; ++number) {
    Side& side = sessions.sides_[static_cast<std::size_t>(number)];
    side.loaded = first.loaded(number);
    if (!request.store) continue;
    Json asked = side.loaded.described["request"];
    asked.set("ab_side", kNames[number]).set("ab_options", words_json(number == 0 ? request.a_words : request.b_words));
    AACO_ASSIGN(side.draft,
                SessionDraft::begin("run", request.tag.empty() ? std::string() : request.tag, std::move(asked), services));
    AACO_TRY(write_lockbox(*side.draft, side.loaded, number == 0 ? request.a : request.b));
    for (const Json& warning : side.loaded.described["warnings"].items())
      side.draft->warn(std::string(warning["id"].text()), std::string(warning["message"].text()),
                       std::string(warning["remedy"].text()));
    side.draft->warn("ab.interleaved",
                     "measured interleaved with another configuration, in several processes; see regress/verdict.json of side B "
                     "for the comparison",
                     "use 'aaco run' to measure this configuration alone");
  }
  return sessions;
}

void AbSessions::add_warmup(int number, const std::vector<runner::TimedCall>& calls) {
  Side& side = sides_[static_cast<std::size_t>(number)];
  if (side.draft) store_calls(side.draft->sink(), calls, "warmup", side.blocks, side.warmups);
}

void AbSessions::add_block(int number, const AbBlock& block) {
  const std::vector<runner::TimedCall>& calls = block.calls;
  Side& side = sides_[static_cast<std::size_t>(number)];
  if (calls.empty()) return;
  if (side.iterations == 0) side.first_ns = calls.front().start_ns;
  side.last_ns = calls.back().start_ns + calls.back().duration_ns;
  side.round_iterations += static_cast<std::int64_t>(calls.size());
  if (!side.draft) {
    side.iterations += static_cast<std::int64_t>(calls.size());
    return;
  }
  trace::LoopBlockRow account = block.account;
  account.phase = side.draft->sink().name("measure");
  account.block = side.blocks;
  account.start_ns = calls.front().start_ns;
  account.end_ns = side.last_ns;
  account.call_count = static_cast<std::int64_t>(calls.size());
  side.draft->sink().add(account);
  store_calls(side.draft->sink(), calls, "measure", side.blocks++, side.iterations);
}

void AbSessions::end_round(const AbProcesses& processes) {
  for (int number = 0; number < 2; ++number) {
    Side& side = sides_[static_cast<std::size_t>(number)];
    side.processes.push(side.round_iterations);
    side.round_iterations = 0;
    side.rss_peak_bytes = std::max(side.rss_peak_bytes, processes.rss_peak_bytes(number));
  }
}

core::Result<SessionOutcome> AbSessions::finish_side(int number, const AbOutcome& outcome, const AbRequest& request) {
  Side& side = sides_[static_cast<std::size_t>(number)];
  SessionDraft& draft = *side.draft;
  const Json& described = side.loaded.described;
  draft.phase("measure", side.first_ns, side.last_ns);
  trace::Outcome& what = draft.manifest().outcome;
  what.model = described["model"].text();
  what.backend = described["backend"].text();
  what.provider = described["provider"].text();
  what.requested_backend = described["requested_backend"].text();
  what.requested_provider = described["requested_provider"].text();
  what.batch = described["batch"].as_i64();
  what.threads = described["threads_intra"].as_i64();
  what.graph_level = described["graph_level"].text();
  what.inputs = described["inputs"];
  what.warmup_iterations = side.warmups;
  what.iterations = side.iterations;
  what.measuring_ended = outcome.ended;
  what.ab_side = kNames[number];
  what.ab_together = outcome.together;
  what.ab_process_iterations = side.processes;
  if ((number == 0 ? request.a : request.b).delay != InjectedDelay{})
    draft.warn("ab.injected", "each call was delayed by --inject-delay",
               "omit --inject-delay to measure the configuration itself");
  AACO_TRY(draft.writer().flush());
  LoadedSession loaded(draft.writer().path());
  AACO_ASSIGN(trace::Metrics metrics, table_metrics(draft, loaded, described["batch"].as_i64().value_or(1)));
  if (!outcome.together) metrics.push_back({"memory.rss_peak_bytes", static_cast<double>(side.rss_peak_bytes), "bytes", {}, {}});
  if (const auto* median = find_metric(metrics, "latency.p50_ns")) draft.manifest().outcome.p50_ns = median->value;
  return draft.finish(std::move(metrics), outcome.interrupted);
}

namespace {

// The cause of a change, from what the kernel accounted to the blocks of both sides.
core::Result<std::optional<SuspectedCause>> cause_of(const AbOutcome& outcome, const Services& services) {
  const DiffOutcome& verdict = outcome.verdict;
  if (verdict.verdict != "regression" && verdict.verdict != "improvement") return std::optional<SuspectedCause>();
  AACO_ASSIGN(const ComparedSide a, load_side({outcome.a->path}, services));
  AACO_ASSIGN(const ComparedSide b, load_side({outcome.b->path}, services));
  return cause_of_runs(a, b, verdict.metrics.front(), verdict.differences, services);
}

}  // namespace

core::Status AbSessions::finish(AbOutcome& outcome, const AbRequest& request, const Services& services) {
  if (!request.store) return {};
  AACO_ASSIGN(outcome.a, finish_side(0, outcome, request));
  AACO_ASSIGN(outcome.b, finish_side(1, outcome, request));
  const std::string folder = core::join_path(outcome.b->path, "regress");
  AACO_TRY(core::make_directories(folder));
  outcome.verdict.baseline_ids = {outcome.a->manifest.id.text};
  outcome.verdict.candidate_ids = {outcome.b->manifest.id.text};
  if (auto cause = cause_of(outcome, services))
    outcome.verdict.cause = *std::move(cause);
  else
    outcome.verdict.notes.push_back("no cause analysis: " + cause.error().message);
  if (outcome.verdict.verdict == "regression" && outcome.verdict.cause)
    outcome.verdict.recommendation = "keep A; for B: " + outcome.verdict.cause->recommendation;
  return core::write_file_atomic(core::join_path(folder, "verdict.json"), to_json(outcome, request).dump() + "\n");
}

}  // namespace aaco::workflows
