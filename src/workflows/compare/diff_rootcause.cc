#include "workflows/compare/diff_rootcause.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analytics/change_order.h"
#include "analytics/trace_cause.h"
#include "core/files.h"
#include "core/numbers.h"
#include "report/quantity.h"
#include "report/terminal.h"
#include "tracelake/bundle.h"
#include "tracelake/lake.h"
#include "workflows/compare/host_activity.h"
#include "workflows/explain/awaited_thread.h"
#include "workflows/explain/insight.h"
#include "workflows/explain/sleep_call.h"
#include "workflows/node_pairs.h"

namespace aaco::workflows {
namespace {

using core::Json;

core::Result<std::unique_ptr<SessionFacts>> facts_of(const ComparedSession& session) {
  AACO_ASSIGN(const auto manifest, tracelake::read_manifest(session.path));
  LoadedSession loaded(session.path);
  return session_facts(loaded, manifest, session.metrics);
}

// The calls of a side are the mean of its runs, their nodes those of the run whose median lies in the middle.
struct MeanRun {
  const ComparedSession* middle = nullptr;
  std::unique_ptr<SessionFacts> facts;  // of the middle run
  analytics::rootcause::Side side;      // refers to `facts`
  std::size_t sessions = 0;
};

// Empty where a side has no runs. Of many runs those around the middle are read.
core::Result<std::optional<MeanRun>> mean_run(const ComparedSide& side) {
  constexpr std::size_t kMaxRead = 9;
  auto runs = runs_by_median(side);
  if (runs.empty()) return std::optional<MeanRun>();
  MeanRun mean;
  mean.middle = runs[(runs.size() - 1) / 2];
  if (runs.size() > kMaxRead) {
    runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>((runs.size() - kMaxRead) / 2));
    runs.resize(kMaxRead);
  }
  std::vector<std::unique_ptr<SessionFacts>> others;
  std::vector<const analytics::rootcause::Side*> sides;
  for (const ComparedSession* run : runs) {
    AACO_ASSIGN(auto facts, facts_of(*run));
    sides.push_back(&facts->side);
    (run == mean.middle ? mean.facts : others.emplace_back()) = std::move(facts);
  }
  mean.side = mean_side(sides, mean.facts->side);
  mean.sessions = sides.size();
  return std::optional(std::move(mean));
}

constexpr std::string_view kNotRecorded = "slower_execution", kProbability = "probability";
constexpr double kWorthActing = 0.5;

// The likeliest cause, and the others that may be one as well: each of them has at least this probability.
constexpr double kMayBeToo = 0.2;
std::string likeliest(const std::vector<analytics::rootcause::Cause>& causes) {
  const auto named = [](const analytics::rootcause::Cause& cause) {
    return fmt::format("{} (probability {})", cause.title, report::format_estimate(cause.probability));
  };
  const analytics::rootcause::Cause& first = causes.front();
  if (first.id == kNotRecorded) return first.title;  // it has no probability
  const bool unsure = first.probability < kWorthActing;
  std::string text = (unsure ? "cannot tell which: " : "") + named(first);
  for (std::size_t i = 1; i < causes.size(); ++i)
    if (causes[i].probability >= kMayBeToo && causes[i].id != kNotRecorded)
      text += (unsure ? ", or " : ", also ") + named(causes[i]);
  return text;
}

constexpr std::string_view kMedianCall = "a median call";
// `weight`: what a cause's number is.
std::string sentence(const analytics::rootcause::Decomposition& difference,
                     const std::vector<analytics::rootcause::Cause>& causes, std::string_view weight, std::string_view what) {
  const analytics::rootcause::Cause& cause = causes.front();
  std::string text = weight == kProbability
                         ? likeliest(causes)
                         : fmt::format("{} ({} {})", cause.title, weight, report::format_estimate(cause.probability));
  text += fmt::format(": {} takes {} {}", what, core::format_duration(std::abs(difference.delta_ns)),
                      difference.delta_ns > 0 ? "longer" : "less");
  constexpr int kTitle = 60;  // a kernel's name may have thousands of letters
  constexpr std::size_t kNamed = 3;
  std::size_t named = 0;
  double other_ns = 0;
  for (const auto& part : difference.parts)
    if (named++ < kNamed)
      text += fmt::format("{} {} {}", named == 1 ? ":" : ",", core::format_percent(part.ns / difference.delta_ns),
                          report::fit(part.title, kTitle, true));
    else
      other_ns += part.ns;
  if (named > kNamed)
    text += fmt::format(", {} in {} more part{}", core::format_percent(other_ns / difference.delta_ns), named - kNamed,
                        named == kNamed + 1 ? "" : "s");
  if (difference.profile_scale)
    text += fmt::format("; node times scaled by {:.2g}: the profiled passes differ by more than the measured calls",
                        *difference.profile_scale);
  const double unexplained = difference.unexplained_ns / difference.delta_ns;
  constexpr double kRounding = 5e-5;  // prints as zero
  text += fmt::format("; {} unexplained", core::format_percent(std::abs(unexplained) < kRounding ? 0 : unexplained));
  constexpr double kWorthSaying = 0.1;
  const bool unwatched = difference.candidate_account && !difference.candidate_account->wait_ns;
  if (what == kMedianCall && unwatched && unexplained >= kWorthSaying)
    text += " (waits and sleep of single calls: record both sides with --ebpf)";
  return text;
}

// What to do about sleep whose cause the scheduler's events tell; empty where they do not.
std::string of_recorded_sleep(const analytics::rootcause::Decomposition& difference) {
  static const std::map<std::string, std::string, std::less<>> kRemedies = {
      {"host_waiting:lock", "shorten or remove the lock that the caller waits for"},
      {"host_waiting:timer", "remove the sleep or the timed wait in the call"},
      {"host_waiting:awaited_thread_asleep",
       "find why the thread that the caller waits for sleeps: do not sleep while holding a lock, and wake workers without a "
       "timed "
       "wait"},
      {"host_waiting:peer",
       "find what the process at the other end of the socket or pipe, or the child process, does meanwhile; do not wait for it "
       "within the call"},
      {"host_waiting:io", "move the I/O out of the call, or read and write ahead"}};
  const analytics::rootcause::Part* largest = nullptr;
  for (const auto& part : difference.parts)
    if (part.id.starts_with("host_waiting:") && (largest == nullptr || part.ns > largest->ns)) largest = &part;
  const auto found = largest == nullptr ? kRemedies.end() : kRemedies.find(largest->id);
  return found == kRemedies.end() ? std::string() : found->second;
}

// `both_watched`: the scheduler's events of both sides were recorded.
std::string advice(const Judges& judges, const analytics::rootcause::Decomposition& difference,
                   const analytics::rootcause::Cause& cause, bool both_watched = false) {
  if (difference.delta_ns < 0) return "no action needed: B is faster; approve it as the new baseline";
  const bool watched = both_watched || std::any_of(difference.parts.begin(), difference.parts.end(),
                                                   [](const auto& part) { return part.id.starts_with("host_waiting:"); });
  if (cause.probability < kWorthActing) {
    if (difference.profiled && watched) return "no cause is likely enough to act on: compare the largest parts above";
    return fmt::format("no cause is likely enough to act on: record both sides with 'aaco run{}{}' and compare again",
                       difference.profiled ? "" : " --profile", watched ? "" : " --ebpf");
  }
  if (cause.id == "stopped") return "find what stops the process: job control (SIGSTOP, Ctrl-Z), a debugger, a batch system";
  if (cause.id == "traced") return "measure without the tracer (strace, gdb), or trace both sides";
  if (cause.id == "frozen")
    return "find what freezes the control group: 'docker pause', 'systemctl freeze', a batch system (cgroup.freeze, "
           "freezer.state)";
  if (cause.id == "fewer_threads")
    return "find what delays the worker threads: their CPUs and priority, a neighbour on them, or a runtime that lets them sleep "
           "(session.intra_op.allow_spinning)";
  if (cause.id == "host_computing" && !difference.profiled)
    return "find what the caller computes: 'aaco run --profile' on both sides tells the model from the work around it";
  if (cause.id == "host_waiting") {
    if (const std::string known = of_recorded_sleep(difference); !known.empty()) return known;
    if (watched) return "find what the caller sleeps on: the scheduler's events do not tell ('strace -T' shows the system calls)";
  }
  if (const auto* kind = judges.book.find(cause.id)) return kind->strategies.front();
  if (cause.id == kNotRecorded)
    return difference.profiled
               ? "compare clocks, temperature, libraries and environment of both sides; the parts above name the operators"
               : "compare clocks, temperature, libraries and environment of both sides; 'aaco run --profile' on both names the "
                 "operators";
  return "revert the change (" + cause.title + "), or approve it as the new baseline";
}

// The remedy of the cause for which launched work was held back longer; of the largest that has one.
std::string held_advice(const analytics::rootcause::Decomposition& difference, const analytics::gaps::CauseBook& causes) {
  constexpr std::string_view kIdle = "idle:";
  for (const auto& part : difference.parts) {
    if (part.ns <= 0 || !part.id.starts_with(kIdle)) continue;
    const auto found = causes.find(std::string_view(part.id).substr(kIdle.size()));
    if (found && is_held_back(causes.at(*found))) return causes.at(*found).remedy;
  }
  return "find what the held-back work waits for: trace all devices and processes that share its events";
}

// What helps a trace against what the classes of bottlenecks say to runs in other words.
std::string trace_advice(const Judges& judges, const analytics::rootcause::Decomposition& difference,
                         const analytics::rootcause::Cause& cause, const analytics::gaps::CauseBook& causes) {
  if (const auto activity = causes.find(cause.id); activity && difference.delta_ns > 0) return causes.at(*activity).remedy;
  if (cause.id == "dependency_bound" && difference.delta_ns > 0) return held_advice(difference, causes);
  static const std::map<std::string, std::string, std::less<>> kOfTraces = {
      {"host_waiting",
       "keep the device busy: check what the host does in the gaps ('aaco report' of the slower trace ranks the actions)"},
      {"more_launches",
       "find what used to be fused or cached ('aaco diff' lists the new kernels); capture and replay the launches (graphs)"},
      {"slower_kernels", "find the library or shape change behind the slower kernels, and revert it"},
      {"kernels_alike",
       "compare the clocks, power and temperature of the device, its driver and libraries ('aaco record' samples them)"},
      {"clock_throttling", "check the device's clocks, power and temperature during both runs ('aaco record' samples them)"}};
  const auto found = kOfTraces.find(cause.id);
  return difference.delta_ns < 0 || found == kOfTraces.end() ? advice(judges, difference, cause) : found->second;
}

// A step of an imported trace on a device. `kernels_only`: nothing but the kernels' own time.
analytics::rootcause::TraceSide trace_side(const ComparedSession& session, bool kernels_only,
                                           const analytics::gaps::CauseBook& causes) {
  const TraceWork& work = *session.work;
  analytics::rootcause::TraceSide side;
  for (const auto& cause : causes.causes()) {
    if (is_activity(cause)) side.activities[cause.id] = cause.title;
    if (is_held_back(cause)) side.held[cause.id] = cause.title;
  }
  side.held["dependency"] = "launched work held back on the device";  // gaps of imports that name no cause
  for (const auto& metric : session.metrics)
    if (metric.id == "gpu.clock_mean_hz" && !side.clock_hz) side.clock_hz = metric.value;
  const double windows = work.time.window_count;
  double sum = 0;
  for (const auto& step : work.steps)
    for (const auto& call : step) {
      auto& kernel = side.kernels[std::string(call.name)];
      kernel.count += 1 / windows;
      kernel.sum_ns += static_cast<double>(call.duration_ns) / windows;
      sum += static_cast<double>(call.duration_ns) / windows;
    }
  side.span_ns = side.compute_ns = sum;
  if (kernels_only) return side;
  side.span_ns = work.time.span_ns;
  side.compute_ns = work.time.compute_ns;
  side.exposed_copy_ns = work.time.exposed_copy_ns;
  side.exposed_collective_ns = work.time.exposed_collective_ns;
  side.idle_ns = work.time.idle_ns;
  return side;
}

// The trace whose span lies in the middle of the side's; null unless all are traces with device work.
const ComparedSession* middle_trace(const ComparedSide& side) {
  std::vector<const ComparedSession*> traces;
  for (const ComparedSession& session : side.sessions) {
    if (!session.work || session.work->time.window_count <= 0) return nullptr;
    traces.push_back(&session);
  }
  if (traces.empty()) return nullptr;
  std::stable_sort(traces.begin(), traces.end(),
                   [](const auto* x, const auto* y) { return x->work->time.span_ns < y->work->time.span_ns; });
  return traces[(traces.size() - 1) / 2];
}

// How the longest gap of the trace came about.
core::Result<Json> chain_json(const std::string& path) {
  trace::NameTable names;
  AACO_ASSIGN(const auto gaps, tracelake::read_table<trace::GapRow>(path, names));
  return to_json(analytics::rootcause::chain_of_longest(gaps, names));
}

// Adds to the part of awaited threads that sleep which threads these are, by the events of the slower run.
core::Status name_awaited_thread(const std::string& slower, analytics::rootcause::Decomposition& difference) {
  constexpr double kNamed = 0.1;  // of the difference
  for (auto& part : difference.parts) {
    if (part.id != "host_waiting:awaited_thread_asleep" || part.ns / difference.delta_ns < kNamed) continue;
    AACO_ASSIGN(const auto thread, awaited_thread(slower));
    if (thread) part.evidence = *thread + "; " + part.evidence;
  }
  return {};
}

// Adds to the parts of the caller's own sleep the system call, by the events of the slower run: "caller asleep: I/O (fdatasync)".
core::Status name_sleep_calls(const std::string& slower, analytics::rootcause::Decomposition& difference) {
  constexpr double kNamed = 0.1;  // of the difference
  constexpr std::string_view kAsleep = "host_waiting:";
  const auto is_large = [&](const auto& part) { return part.id.starts_with(kAsleep) && part.ns / difference.delta_ns >= kNamed; };
  if (std::none_of(difference.parts.begin(), difference.parts.end(), is_large)) return {};
  AACO_ASSIGN(const auto calls, sleep_calls(slower));
  for (auto& part : difference.parts)
    if (const auto call = calls.find(part.id.substr(std::min(part.id.size(), kAsleep.size())));
        is_large(part) && call != calls.end())
      part.title += " (" + call->second + ")";
  return {};
}

// What changed first, from the blocks of both runs.
core::Result<std::vector<analytics::rootcause::Deviation>> order_of_runs(const std::string& path_a, const std::string& path_b) {
  trace::NameTable names_a, names_b;
  AACO_ASSIGN(const auto a, tracelake::read_table<trace::LoopBlockRow>(path_a, names_a));
  AACO_ASSIGN(const auto b, tracelake::read_table<trace::LoopBlockRow>(path_b, names_b));
  return analytics::rootcause::order_of_changes(a, b, names_a, names_b);
}

bool watched(const analytics::rootcause::Side& side) {
  return find_metric(side.metrics, "sched.sleep_unknown_per_iteration_ns") != nullptr;
}

// Where the median decided, and its calls rather than the mean ones tell why.
std::optional<analytics::rootcause::MedianSides> median_change(const analytics::rootcause::Side& a,
                                                               const analytics::rootcause::Side& b,
                                                               const analytics::regression::MetricResult& decided) {
  if (decided.id != analytics::regression::kMedianLatency || !decided.baseline || !decided.candidate) return std::nullopt;
  return median_sides(a, b, *decided.baseline, *decided.candidate);
}

}  // namespace

core::Result<std::optional<SuspectedCause>> cause_of_traces(const ComparedSide& a, const ComparedSide& b,
                                                            const analytics::regression::MetricResult& decided,
                                                            const Services& services) {
  const ComparedSession *const trace_a = middle_trace(a), *const trace_b = middle_trace(b);
  if (trace_a == nullptr || trace_b == nullptr) return std::optional<SuspectedCause>();
  AACO_ASSIGN(const Judges judges, load_judges(services.paths));
  const bool kernels_only = decided.id == "gpu.kernel_sum_ns";
  AACO_ASSIGN(const auto book, analytics::gaps::CauseBook::load(core::join_path(services.paths.share, "data/gaps/causes.yaml")));
  const auto side_a = trace_side(*trace_a, kernels_only, book), side_b = trace_side(*trace_b, kernels_only, book);
  const auto difference = decompose_traces(side_a, side_b);
  // A trace may have moved in its means the other way than the metric that was judged: then this is not its cause.
  if ((difference.delta_ns > 0) != (*decided.delta_ratio > 0)) return std::optional<SuspectedCause>();
  const auto causes = find_trace_causes(side_a, side_b, difference, judges.book);
  if (causes.empty()) return std::optional<SuspectedCause>();
  Json chain = Json::array();
  const bool of_kernels = causes.front().id.ends_with("_kernels") || causes.front().id == "kernels_alike";
  if (!kernels_only && causes.front().id != "clock_throttling" && !of_kernels && !trace_b->path.empty()) {
    AACO_ASSIGN(chain, chain_json(trace_b->path));
  }
  Json details = Json::object({{"baseline_session", trace_a->id},
                               {"candidate_session", trace_b->id},
                               {"chain", std::move(chain)},
                               {"of", kernels_only               ? "kernels"
                                      : trace_b->work->has_steps ? "step"
                                                                 : "trace"},
                               {"causes", to_json(causes)},
                               {"decomposition", to_json(difference)}});
  return std::optional(SuspectedCause{sentence(difference, causes, "share of the explained difference",
                                               kernels_only               ? "kernel time"
                                               : trace_b->work->has_steps ? "a step"
                                                                          : "the device span"),
                                      trace_advice(judges, difference, causes.front(), book), std::move(details)});
}

core::Result<std::optional<SuspectedCause>> cause_of_runs(const ComparedSide& a, const ComparedSide& b,
                                                          const analytics::regression::MetricResult& decided,
                                                          const std::vector<hardware::Difference>& differences,
                                                          const Services& services) {
  AACO_ASSIGN(const auto mean_a, mean_run(a));
  AACO_ASSIGN(const auto mean_b, mean_run(b));
  if (!mean_a || !mean_b) return std::optional<SuspectedCause>();
  const ComparedSession *const run_a = mean_a->middle, *const run_b = mean_b->middle;
  AACO_ASSIGN(const Judges judges, load_judges(services.paths));
  const auto medians = median_change(mean_a->side, mean_b->side, decided);
  const auto &side_a = medians ? medians->a : mean_a->side, &side_b = medians ? medians->b : mean_b->side;
  auto difference = decompose(side_a, side_b);
  // The mean may have moved the other way than the metric that was judged: then its parts are not the cause.
  if (!difference || difference->delta_ns == 0 || (difference->delta_ns > 0) != (decided.verdict == stats::Verdict::regression))
    return std::optional<SuspectedCause>();
  const std::string& slower = difference->delta_ns > 0 ? run_b->path : run_a->path;
  AACO_TRY(name_awaited_thread(slower, *difference));
  AACO_TRY(name_sleep_calls(slower, *difference));
  const auto causes = find_causes(side_a, side_b, *difference, differences, judges.book, judges.cause ? &*judges.cause : nullptr);
  if (causes.empty()) return std::optional<SuspectedCause>();
  AACO_ASSIGN(const auto order, order_of_runs(run_a->path, run_b->path));
  Json details =
      Json::object({{"baseline_session", run_a->id},
                    {"candidate_session", run_b->id},
                    {"of", medians ? "median" : "mean"},
                    {"averaged_sessions", Json::object({{"baseline", mean_a->sessions}, {"candidate", mean_b->sessions}})},
                    {"order", to_json(order)},
                    {"causes", to_json(causes)},
                    {"decomposition", to_json(*difference)}});
  return std::optional(SuspectedCause{sentence(*difference, causes, kProbability, medians ? kMedianCall : "a call"),
                                      advice(judges, *difference, causes.front(), watched(side_a) && watched(side_b)),
                                      std::move(details)});
}

}  // namespace aaco::workflows
