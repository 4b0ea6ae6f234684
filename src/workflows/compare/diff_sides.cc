#include "workflows/diff_sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analytics/latency.h"
#include "analytics/noise.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/strings.h"
#include "trace/kernel_name.h"
#include "trace/session_kind.h"
#include "tracelake/bundle.h"
#include "tracelake/lake.h"
#include "workflows/baseline_side.h"
#include "workflows/compare/llm_series.h"
#include "workflows/compare/side_facts.h"
#include "workflows/recorded_run.h"
#include "workflows/session/llm_journal.h"
#include "workflows/session/metrics_files.h"
#include "workflows/session/noise.h"
#include "workflows/session/step_time.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::string_view kTagPrefix = "tag:";
constexpr double kOtherGridShare = 0.25;  // of the time of kernels that both traces have
constexpr double kOtherThreads = 0.02;    // a kernel's mean threads per call that changed by more than this did change
constexpr std::size_t kFewestGrown = 3;   // kernels with more (fewer) threads, from which on the problem is taken for another

struct FoundSession {
  std::string path;
  trace::SessionManifest manifest;
};

core::Result<std::vector<FoundSession>> tagged(std::string_view tag, const std::string& root) {
  AACO_ASSIGN(const auto entries, tracelake::list_session_heads(root));
  std::vector<FoundSession> found;
  for (const auto& entry : entries) {
    if (!entry.manifest.whole() || !entry.has_tag(tag) || trace::is_summary_kind(entry.manifest.kind)) continue;
    AACO_ASSIGN(auto manifest, tracelake::read_manifest(entry.path));
    found.push_back({entry.path, std::move(manifest)});
  }
  if (found.empty())
    return core::fail(ErrorCode::not_found, "no complete session with tag " + std::string(tag) + " in " + root,
                      "'aaco ls' lists sessions and tags");
  return found;
}

core::Result<std::vector<FoundSession>> find_all(const std::string& name, const Services& services) {
  if (name.starts_with(kTagPrefix) && name.size() > kTagPrefix.size())
    return tagged(std::string_view(name).substr(kTagPrefix.size()), services.paths.sessions);
  AACO_ASSIGN(std::string path, tracelake::find_session(services.paths.sessions, name));
  AACO_ASSIGN(auto manifest, tracelake::read_manifest(path));
  return std::vector<FoundSession>{{std::move(path), std::move(manifest)}};
}

core::Status check(const FoundSession& found) {
  const std::string& id = found.manifest.id.text;
  if (found.manifest.state == "incomplete")
    return core::fail(ErrorCode::invalid_input, "session " + id + " is incomplete and cannot be compared",
                      core::exists(core::join_path(found.path, kLlmJournal)) ? "recover it with 'aaco llm --recover " + id + "'"
                                                                             : "run it again");
  if (trace::is_summary_kind(found.manifest.kind))
    return core::fail(ErrorCode::invalid_input,
                      "session " + id + " is a summary of kind " + found.manifest.kind + " without measurements",
                      "compare the sessions that it summarises ('aaco show' lists them)");
  return tracelake::check_files_there(found.path, found.manifest);
}

void choose_iterations(ComparedSession& session, const trace::SessionManifest& manifest, bool drop_disturbed,
                       std::vector<trace::IterationRow>& rows, const trace::NameTable& names) {
  const auto counts = [&](const trace::IterationRow& row) { return names.text(row.phase) == "measure"; };
  const auto measured = std::count_if(rows.begin(), rows.end(), counts);
  const auto is_disturbed = [&](const trace::IterationRow& row) { return counts(row) && row.disturbance != trace::NameId{}; };
  session.disturbed = std::count_if(rows.begin(), rows.end(), is_disturbed);
  const bool enough = measured - session.disturbed >= analytics::noise::kFewestLeft;
  session.dropped_disturbed = session.disturbed > 0 && (drops_disturbed(manifest) || (drop_disturbed && enough));
  if (session.dropped_disturbed) std::erase_if(rows, is_disturbed);
}

core::Status read_series(ComparedSession& session, const trace::SessionManifest& manifest, bool drop_disturbed) {
  trace::NameTable names;
  AACO_ASSIGN(const auto stored, tracelake::read_table<trace::IterationRow>(session.path, names));
  auto [rows, ranges_ns] = timed_iterations(session.path, manifest.outcome.gpu, stored, names);
  if (!ranges_ns.empty()) session.series[kStepRange] = std::move(ranges_ns);
  choose_iterations(session, manifest, drop_disturbed, rows, names);
  for (const char* phase : {"measure", "device_step", "step"}) {
    session.iterations = analytics::metrics::durations_of(rows, names, phase);
    session.scope = std::string_view(phase) != "measure" ? "step" : "iteration";
    if (!session.iterations.empty()) break;
  }
  if (std::any_of(session.iterations.begin(), session.iterations.end(), [](double value) { return value < 0; }))
    return core::fail(ErrorCode::invalid_input, "session " + session.id + " has iterations with a negative duration",
                      "clock or importer error: import or measure it again");
  AACO_ASSIGN(const auto blocks, tracelake::read_table<trace::LoopBlockRow>(session.path, names));
  session.scatter = analytics::regression::run_scatter(blocks, names);
  auto caller_cpu = analytics::metrics::caller_cpu_of(blocks, rows, names);
  if (!caller_cpu.empty()) session.series[std::string(analytics::metrics::kCallerCpu)] = std::move(caller_cpu);
  return {};
}

// What the manifest of a recording tells: sessions of older versions have their run time there only.
void add_recorded(const trace::SessionManifest& manifest, ComparedSession& session) {
  if (session.kind != "record") return;
  session.exit_code = manifest.outcome.exit_code;
  session.no_run_time = why_no_run_time(manifest);
  if (const auto ns = run_time_ns(manifest); ns && find_metric(session.metrics, kRunTime) == nullptr)
    session.metrics.push_back({std::string(kRunTime), *ns, "ns", {}, {}});
  const auto* wait = find_metric(session.metrics, "process.run_queue_wait_ratio");
  const auto* cores = find_metric(session.metrics, "process.cpu_use_cores");
  if (wait != nullptr && cores != nullptr && wait->value > 0)
    session.scatter.waiting_ratio = wait->value / (wait->value + std::max(0.0, cores->value));
}

core::Result<ComparedSession> load_one(const FoundSession& found, bool drop_disturbed) {
  AACO_TRY(check(found));
  ComparedSession session;
  session.id = found.manifest.id.text;
  session.path = found.path;
  session.kind = found.manifest.kind;
  session.tag = found.manifest.tag;
  session.interrupted = found.manifest.state == "interrupted";
  session.changed = core::join(tracelake::changed_documents(found.path, found.manifest), ", ");
  session.fingerprint_hash = found.manifest.fingerprint;
  session.model = found.manifest.outcome.model;
  AACO_ASSIGN(session.fingerprint, stored_fingerprint(session.path));
  add_request_facts(found.manifest.request, session.fingerprint);
  AACO_TRY(read_series(session, found.manifest, drop_disturbed));
  AACO_ASSIGN(session.metrics, read_metrics(session.path));
  add_recorded(found.manifest, session);
  if (session.kind == "llm") {
    AACO_ASSIGN(auto llm, llm_series(session.path));
    session.responses = llm.responses;
    session.in_one_piece = llm.in_one_piece;
    // Of several levels the one that counts: its latency is that of the requests there.
    if (const auto latency = llm.values.find("llm.e2el_p50_ns"); latency != llm.values.end())
      session.iterations = latency->second;
    session.series.merge(llm.values);
  }
  if (const auto batch = found.manifest.outcome.batch) session.items_per_iteration = static_cast<double>(*batch);
  AACO_ASSIGN(session.work, load_trace_work(session.path));
  return session;
}

void add_new(std::vector<hardware::Difference>& known, hardware::Difference difference) {
  if (std::none_of(known.begin(), known.end(), [&](const auto& one) { return one.key == difference.key; }))
    known.push_back(std::move(difference));
}

// A side is repeated measurements of one thing: what may differ between the sides forbids a comparison within one.
void add_differences_within(const ComparedSide& side, std::vector<hardware::Difference>& found) {
  for (std::size_t i = 1; i < side.sessions.size(); ++i)
    for (auto& difference : hardware::compare_fingerprints(side.sessions.front().fingerprint, side.sessions[i].fingerprint)) {
      if (difference.severity == hardware::Severity::changed) {
        difference.severity = hardware::Severity::hard;
        difference.meaning += " within one side";
      }
      add_new(found, std::move(difference));
    }
}

std::string kernel_of(const std::string& key) { return key.substr(0, key.find('\n')); }

// Time of a kernel's grids.
using Grids = std::map<std::string, double>;

std::map<std::string, Grids> by_kernel(const TraceWork& work) {
  std::map<std::string, Grids> kernels;
  for (const auto& [key, time] : work.grids) kernels[kernel_of(key)][key.substr(key.find('\n') + 1)] += time;
  return kernels;
}

// The kernels that both have, by whether their time is spent on grids that the other side never uses.
struct GridChange {
  double common_ns = 0, other_ns = 0;
  std::size_t kept = 0, changed = 0;  // kernels
  std::size_t more = 0, fewer = 0;    // of the changed ones, those whose calls have more or fewer threads
  std::string kernel, a, b;           // the one that changed with most time, and its grids
  double largest_ns = 0;
};

GridChange grid_change(const TraceWork& a, const TraceWork& b) {
  GridChange change;
  const auto of_b = by_kernel(b);
  const auto most = [](const Grids& grids, const Grids& against) {
    std::pair<std::string, double> found;
    for (const auto& [grid, time] : grids)
      if (!against.contains(grid) && time > found.second) found = {grid, time};
    return found.second > 0 ? found.first : grids.begin()->first;
  };
  for (const auto& [kernel, grids] : by_kernel(a)) {
    const auto found = of_b.find(kernel);
    if (found == of_b.end()) continue;
    double all = 0, other = 0;
    for (const auto& [side, against] : {std::pair(&grids, &found->second), std::pair(&found->second, &grids)})
      for (const auto& [grid, time] : *side) {
        all += time;
        if (!against->contains(grid)) other += time;
      }
    change.common_ns += all;
    change.other_ns += other;
    const bool changed = 2 * other > all;
    ++(changed ? change.changed : change.kept);
    if (changed) {
      const double ratio = b.threads.at(kernel).mean / a.threads.at(kernel).mean;
      change.more += ratio > 1 + kOtherThreads ? 1 : 0;
      change.fewer += ratio < 1 - kOtherThreads ? 1 : 0;
    }
    if (other <= change.largest_ns) continue;
    change.largest_ns = other;
    change.kernel = kernel;
    change.a = most(grids, found->second);
    change.b = most(found->second, grids);
  }
  return change;
}

std::optional<hardware::Difference> grid_difference(const ComparedSession& a, const ComparedSession& b) {
  if (!a.work || !b.work) return std::nullopt;
  const GridChange change = grid_change(*a.work, *b.work);
  if (change.other_ns <= kOtherGridShare * change.common_ns) return std::nullopt;
  const std::string of = " for " + trace::short_kernel_name(change.kernel).substr(0, 60);
  // A launch grid does not tell the problem size: kernels are tuned, rewritten and launched otherwise. A larger problem gives
  // most of several kernels more threads.
  const std::size_t grown = std::max(change.more, change.fewer);
  const bool resized = change.changed > change.kept && grown >= kFewestGrown && 3 * grown >= 2 * change.changed;
  const std::string count = fmt::format("{} of {} kernels ran with other grids", change.changed, change.changed + change.kept);
  std::string meaning = count + "; a grid does not tell the problem size: another launch configuration, or other inputs";
  if (change.kept >= change.changed) meaning = count + "; the others kept theirs, so the problem size is the same";
  if (resized)
    meaning = fmt::format("{}, {} of them with {} threads: different problem sizes", count, grown,
                          change.more >= change.fewer ? "more" : "fewer");
  return hardware::Difference{"grid", change.a + of, change.b + of, resized ? hardware::Severity::hard : hardware::Severity::soft,
                              std::move(meaning)};
}

}  // namespace

std::vector<std::string> ComparedSide::ids() const {
  std::vector<std::string> all;
  for (const ComparedSession& session : sessions) all.push_back(session.id);
  return all;
}

std::string interruption_note(const ComparedSide& side, std::string_view letter) {
  const auto count = std::count_if(side.sessions.begin(), side.sessions.end(), [](const auto& one) { return one.interrupted; });
  if (count == 0) return {};
  return std::string(letter) + ": " + std::to_string(count) + " of " + std::to_string(side.sessions.size()) +
         (side.sessions.size() == 1 ? " session" : " sessions") + " stopped early (interrupted); partial results";
}

std::string disturbance_note(const ComparedSide& side, std::string_view letter) {
  std::int64_t disturbed = 0, left_out = 0, counted = 0;
  for (const ComparedSession& session : side.sessions) {
    disturbed += session.disturbed;
    left_out += session.dropped_disturbed ? session.disturbed : 0;
    counted += static_cast<std::int64_t>(session.iterations.size());
  }
  if (disturbed == 0) return {};
  std::string note = std::string(letter) + ": " + std::to_string(disturbed) + " of " + std::to_string(counted + left_out) +
                     " iterations were affected by external load";
  if (left_out == disturbed) return note + " and are excluded";
  if (left_out == 0) return note + " and are included; --drop-disturbed excludes them if enough remain";
  return note + "; " + std::to_string(left_out) + " of them are excluded";
}

std::string recording_note(const ComparedSide& side, std::string_view letter) {
  std::string why;
  std::int64_t without = 0, failed = 0, exit_code = 0;
  for (const ComparedSession& session : side.sessions) {
    if (!session.no_run_time.empty()) ++without, why = session.no_run_time;
    if (const auto code = session.exit_code.value_or(0); code != 0) ++failed, exit_code = code;
  }
  const auto of = [&](std::int64_t count) { return fmt::format("{} of {} recordings", count, side.sessions.size()); };
  std::string note;
  if (without > 0) note = fmt::format("{}: {} without a run time: {}", letter, of(without), why);
  if (failed > 0)
    note += fmt::format("{}{}: in {} the command failed (exit code {}), so that its run is incomplete", note.empty() ? "" : "; ",
                        letter, of(failed), exit_code);
  return note;
}

core::Result<ComparedSide> load_side(const std::vector<std::string>& names, const Services& services, bool drop_disturbed) {
  if (names.size() == 1 && is_baseline_file(names.front())) {
    AACO_ASSIGN(auto baseline, load_baseline(names.front()));
    return side_of(std::move(baseline));
  }
  ComparedSide side;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    side.name += (side.name.empty() ? "" : ",") + name;
    AACO_ASSIGN(const auto found, find_all(name, services));
    for (const FoundSession& one : found) {
      if (!seen.insert(one.path).second) continue;
      services.progress("reading " + one.manifest.id.text);
      AACO_ASSIGN(ComparedSession session, load_one(one, drop_disturbed));
      side.sessions.push_back(std::move(session));
    }
  }
  if (side.sessions.empty()) return core::fail(ErrorCode::invalid_argument, "one side of the comparison has no session");
  judge_tpot(side);
  return side;
}

std::vector<hardware::Difference> side_differences(const ComparedSide& a, const ComparedSide& b) {
  std::vector<hardware::Difference> found;
  for (const ComparedSide* side : {&a, &b}) add_differences_within(*side, found);
  for (const ComparedSession& session : b.sessions)
    for (auto& difference : hardware::compare_fingerprints(a.sessions.front().fingerprint, session.fingerprint))
      add_new(found, std::move(difference));
  for (const ComparedSession& session : b.sessions)
    if (auto grid = grid_difference(a.sessions.front(), session)) add_new(found, std::move(*grid));
  for (const ComparedSide* side : {&a, &b}) {
    if (!side->baseline) continue;
    const auto now = core::SystemClock().now_ns(core::ClockId::realtime);
    for (auto& difference : baseline_differences(*side->baseline, now))
      if (difference.key != kApproval) add_new(found, std::move(difference));  // says nothing about the two sides
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& x, const auto& y) { return x.severity < y.severity; });
  name_models(found, a.sessions.front().model, b.sessions.front().model);
  return found;
}

}  // namespace aaco::workflows
