#include "workflows/diff.h"

#include <algorithm>

#include "analytics/recorded_time.h"
#include "analytics/side_verdict.h"
#include "core/clock.h"
#include "core/files.h"
#include "workflows/baseline_side.h"
#include "workflows/compare/kernel_cause.h"
#include "workflows/compare/llm_cause.h"
#include "workflows/compare/rank_pair.h"
#include "workflows/compare/record_account.h"
#include "workflows/compare/side_facts.h"
#include "workflows/diff_json.h"
#include "workflows/recorded_run.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr double kKernelThreshold = 0.02;
constexpr std::string_view kMemory = "memory.";

// Of metrics of traces, those that the host's own time is part of.
bool is_host_time(std::string_view id) {
  return id.starts_with("latency.") || id.starts_with("throughput.") || id == "gpu.span_ns" || id == "gpu.idle_ns";
}

constexpr std::string_view kNotStored =
    "the baseline's sessions are not in the store, so their profiles cannot be compared: 'aaco unpack' adds packed sessions";
constexpr std::string_view kBothProfiled =
    "both sides are profiled, but their profiles do not explain the change: 'aaco ab' or more sessions show whether it repeats";

// How far the kernels of two traces are laid side by side; the parts of a difference all are in the first of them.
std::optional<analytics::tracediff::TraceDifference> kernel_differences(const ComparedSide& a, const ComparedSide& b,
                                                                        std::vector<std::string>& notes) {
  std::vector<analytics::tracediff::Step> steps_a, steps_b;
  bool cut = false;
  const auto gather = [&](const ComparedSide& side, auto& steps) {
    for (const ComparedSession& session : side.sessions) {
      if (!session.work) return false;
      steps.insert(steps.end(), session.work->steps.begin(), session.work->steps.end());
      cut = cut || session.work->cut;
    }
    return true;
  };
  if (!gather(a, steps_a) || !gather(b, steps_b)) return std::nullopt;
  if (cut) notes.emplace_back("only the first two million kernels of each trace were compared individually");
  return analytics::tracediff::compare(steps_a, steps_b, kKernelThreshold, analytics::regression::kAssumedBetweenTraces);
}

void take(analytics::regression::SideVerdict decided, DiffOutcome& outcome) {
  outcome.verdict = std::move(decided.verdict);
  outcome.severity = std::move(decided.severity);
  outcome.confidence = decided.confidence;
  outcome.latency_delta_pct = decided.latency_delta_pct;
  outcome.opposite = std::move(decided.opposite);
  outcome.notes.insert(outcome.notes.end(), decided.notes.begin(), decided.notes.end());
}

std::string recommendation_of(const DiffOutcome& outcome) {
  if (outcome.verdict == analytics::regression::kNotComparable)
    return analytics::regression::recommend_not_comparable(outcome.differences.front().key);
  if (outcome.cause && is_of_ranks(*outcome.cause)) return outcome.cause->recommendation;
  // Of recordings also where the run time is not decided.
  if (outcome.cause && outcome.metrics.front().id == kRunTime) return outcome.cause->recommendation;
  std::optional<std::string> known;
  if (outcome.cause)
    known = outcome.cause->recommendation;
  else if (!outcome.evidence.kernels_are.empty())
    known = std::string(kBothProfiled);
  return recommend(outcome.metrics.front(), known);
}

Json session_json(const ComparedSession& session) {
  Json out = Json::object({{"id", session.id}});
  if (!session.path.empty()) out.set("path", session.path);
  return out.set("fingerprint", session.fingerprint_hash);
}

// regress/ of the newest session of side B: the evidence itself stays as it was.
core::Status store(const ComparedSide& a, const ComparedSide& b, const DiffOutcome& outcome, const DiffRequest& request) {
  const std::string& session = b.sessions.back().path;
  if (session.empty()) return {};
  const std::string folder = core::join_path(session, "regress");
  AACO_TRY(core::make_directories(folder));
  Json baseline = Json::array();
  for (const ComparedSession& one : a.sessions) baseline.push(session_json(one));
  Json reference = Json::object({{"schema_version", 1},
                                 {"written", core::iso8601_utc(core::SystemClock().now_ns(core::ClockId::realtime))},
                                 {"baseline", std::move(baseline)}});
  if (!outcome.baseline_name.empty()) reference.set("name", outcome.baseline_name);
  const Json verdict = to_json(outcome, request);
  const Json details = Json::object({{"schema_version", 1},
                                     {"differences", verdict["differences"]},
                                     {"statistics", verdict["statistics"]},
                                     {"kernels", verdict["kernels"]}});
  AACO_TRY(core::write_file_atomic(core::join_path(folder, "baseline_ref.json"), reference.dump() + "\n"));
  AACO_TRY(core::write_file_atomic(core::join_path(folder, "diff.json"), details.dump() + "\n"));
  return core::write_file_atomic(core::join_path(folder, "verdict.json"), verdict.dump() + "\n");
}

// Two traces of the same kernels in the same order: the intervals of their spans and kernel times are those of the difference,
// kernel by kernel.
void pair_spans(const ComparedSide& a, const ComparedSide& b, std::vector<analytics::regression::MetricInput>& metrics) {
  if (a.sessions.size() != 1 || b.sessions.size() != 1 || !a.sessions[0].work || !b.sessions[0].work) return;
  const TraceWork &of_a = *a.sessions[0].work, &of_b = *b.sessions[0].work;
  const auto deviation = analytics::trace_time::paired_deviation(of_a.time, of_a.names, of_b.time, of_b.names);
  if (!deviation) return;
  narrow(metrics, "gpu.span_ns", deviation->span_ns);
  narrow(metrics, "gpu.kernel_sum_ns", deviation->kernel_sum_ns / static_cast<double>(of_a.steps.size()));
}

// Idle time by cause, side by side. It may be decided where the whole is not.
core::Status compare_idle(const ComparedSide& a, const ComparedSide& b, const DiffRequest& request, const Services& services,
                          DiffOutcome& outcome) {
  AACO_ASSIGN(const auto book, analytics::gaps::CauseBook::load(core::join_path(services.paths.share, "data/gaps/causes.yaml")));
  outcome.idle_causes = compare_idle_causes(a, b, book);
  const auto& whole = outcome.metrics.front();
  if (!outcome.cause && whole.verdict == stats::Verdict::inconclusive && a.sessions.front().work)
    outcome.cause = decided_activity(outcome.idle_causes, a.sessions.front().work->time.span_ns, whole, request.level);
  if (!outcome.cause && whole.verdict == stats::Verdict::inconclusive && outcome.kernels)
    outcome.cause = decided_kernel(*outcome.kernels, kKernelThreshold);
  return {};
}

// What the difference comes from, by the tables of the sessions: of a baseline file by those of its sessions in the store.
core::Status find_reasons(const ComparedSide& judged_a, const ComparedSide& b, const DiffRequest& request,
                          const Services& services, DiffOutcome& outcome) {
  const auto stored = stored_sessions(judged_a, services);
  const ComparedSide& a = stored ? *stored : judged_a;
  if (judged_a.baseline && !stored && (outcome.verdict == "regression" || outcome.verdict == "improvement"))
    outcome.notes.emplace_back(kNotStored);
  outcome.evidence = find_evidence(a, b);
  outcome.kernels = kernel_differences(a, b, outcome.notes);
  AACO_ASSIGN(outcome.nodes, node_pairs(a, b));
  AACO_ASSIGN(outcome.cause, late_rank_of(a, b));
  if (outcome.cause)
    outcome.notes.emplace_back("A and B are two ranks of one job: their times differ by how the work is balanced");
  else {
    outcome.cause = llm_cause(outcome.metrics);
    if (!outcome.cause) {
      AACO_ASSIGN(outcome.cause, suspect_cause(a, b, outcome.metrics.front(), outcome.evidence, outcome.differences, services));
    }
  }
  return compare_idle(a, b, request, services, outcome);
}

// Adds to recordings their run time without waits for a CPU, where the scheduler's events tell it.
core::Result<ComparedSide> with_own_times(ComparedSide side) {
  for (ComparedSession& session : side.sessions) {
    if (!session.no_run_time.empty()) continue;
    AACO_ASSIGN(const auto account, record_own_account(session));
    if (account) session.metrics.push_back({std::string(analytics::regression::kRecordedOwn), account->wall_ns, "ns", {}, {}});
  }
  return side;
}

bool all_recorded(const ComparedSide& side) {
  return std::all_of(side.sessions.begin(), side.sessions.end(), [](const auto& one) { return one.kind == "record"; });
}

core::Status compare_numbers(const ComparedSide& a, const ComparedSide& b, const DiffRequest& request, const Services& services,
                             DiffOutcome& outcome) {
  AACO_ASSIGN(auto catalogue, analytics::metrics::MetricCatalogue::load(core::join_path(services.paths.share, "data/metrics")));
  const std::string causes = core::join_path(services.paths.share, "data/gaps/causes.yaml");
  AACO_ASSIGN(const auto book, analytics::gaps::CauseBook::load(causes));
  AACO_TRY(define_idle_metrics(book, catalogue));
  std::optional<ComparedSide> own_a, own_b;
  if (all_recorded(a) && all_recorded(b)) {
    AACO_ASSIGN(own_a, with_own_times(a));
    AACO_ASSIGN(own_b, with_own_times(b));
  }
  AACO_ASSIGN(auto metrics, comparison_metrics(request.metrics, own_a ? *own_a : a, own_b ? *own_b : b, catalogue));
  pair_spans(a, b, metrics);
  const auto is_trace = [](const ComparedSession& one) { return one.kind == "import"; };
  const bool both_traced =
      std::all_of(a.sessions.begin(), a.sessions.end(), is_trace) && std::all_of(b.sessions.begin(), b.sessions.end(), is_trace);
  for (auto& metric : metrics)
    if (metric.id.starts_with(kMemory))
      metric.not_judged = memory_not_judged(outcome.differences);
    else if (is_host_time(metric.id))
      metric.not_judged = host_not_judged(outcome.differences, both_traced);
  // Where the host's time cannot be judged, the kernels decide.
  if (request.metrics.names.empty())
    std::stable_partition(metrics.begin(), metrics.end(), [](const auto& metric) { return metric.not_judged.empty(); });
  analytics::regression::Options options;
  options.level = request.level;
  if (request.use_history && a.sessions.size() == 1 && b.sessions.size() == 1) {
    AACO_ASSIGN(outcome.history, history_between(a, b, services));
  }
  if (outcome.history) {
    options.history_deviation_ratio = outcome.history->deviation_ratio;
    options.history_count = outcome.history->sessions;
  }
  const bool traced = std::all_of(b.sessions.begin(), b.sessions.end(), [](const auto& one) { return one.kind == "import"; });
  options.assumption_widens = !traced;
  options.assumed_between_ratio = analytics::regression::kAssumedBetweenTraces;
  if (!traced) {
    AACO_ASSIGN(options.assumed_between_ratio, between_runs(a, b, request.use_history, services));
  }
  services.progress("comparing");
  analytics::regression::DecisionRule rule{request.metrics.names.empty(), 0, request.every_budget};
  if (request.metrics.names.empty() && shares_decision(metrics)) {
    options.first_error_share = analytics::regression::kMedianErrorShare;
    rule.mean_error = analytics::regression::kMeanErrorShare * (1 - request.level);
  }
  outcome.metrics = analytics::regression::compare(metrics, options);
  outcome.distributions = distributions_of(a, b);
  take(decide(outcome.metrics, rule), outcome);
  return find_reasons(a, b, request, services, outcome);
}

}  // namespace

core::Result<DiffOutcome> diff(const DiffRequest& request, const Services& services) {
  AACO_ASSIGN(const ComparedSide a, load_side(request.baseline, services, request.drop_disturbed));
  AACO_ASSIGN(const ComparedSide b, load_side(request.candidate, services, request.drop_disturbed));
  return diff_sides(a, b, with_policy(request, a), services);
}

DiffRequest with_policy(DiffRequest request, const ComparedSide& a) {
  if (!a.baseline) return request;
  const governance::Baseline& policy = *a.baseline;
  using analytics::regression::Better;
  for (const auto& [id, budget] : policy.budgets)
    request.metrics.budgets[id] = {budget.loss_ratio, budget.lower_is_better ? Better::lower : Better::higher};
  if (!request.metrics.names.empty()) return request;
  request.metrics.threshold_ratio = policy.budgets.at(policy.decides).loss_ratio;
  request.metrics.names = {policy.decides};
  request.every_budget = true;
  for (const auto& [id, budget] : policy.budgets)
    if (id != policy.decides) request.metrics.names.push_back(id);
  return request;
}

core::Result<DiffOutcome> diff_sides(const ComparedSide& a, const ComparedSide& b, const DiffRequest& request,
                                     const Services& services) {
  DiffOutcome outcome;
  outcome.baseline_ids = a.ids();
  outcome.candidate_ids = b.ids();
  outcome.baseline_name = a.baseline ? a.baseline->name : std::string();
  outcome.differences = side_differences(a, b);
  outcome.comparable = hardware::comparable(outcome.differences);
  if (outcome.comparable || request.force) {
    AACO_TRY(compare_numbers(a, b, request, services, outcome));
    if (!outcome.comparable) outcome.notes.emplace_back("compared because of --force, although the sides are not comparable");
  } else {
    take(analytics::regression::not_comparable(), outcome);
  }
  for (const auto& [side, letter] : {std::pair(&a, "A"), std::pair(&b, "B")})
    for (std::string note : {interruption_note(*side, letter), disturbance_note(*side, letter), recording_note(*side, letter),
                             tpot_note(*side, letter), quantile_note(*side, letter)})
      if (!note.empty()) outcome.notes.push_back(std::move(note));
  for (const ComparedSide* side : {&a, &b})
    for (const ComparedSession& session : side->sessions)
      if (!session.changed.empty())
        outcome.notes.push_back(session.changed + " in session " + session.id +
                                " changed after the session was closed; 'aaco verify' lists all changes");
  for (const std::string& id : outcome.candidate_ids)
    if (std::count(outcome.baseline_ids.begin(), outcome.baseline_ids.end(), id) > 0)
      outcome.notes.push_back("session " + id + " is on both sides: comparing it with itself says nothing about a change");
  if (a.baseline)
    for (const auto& difference : baseline_differences(*a.baseline, core::SystemClock().now_ns(core::ClockId::realtime)))
      if (difference.key == kApproval) outcome.notes.push_back(difference.meaning);
  outcome.recommendation = recommendation_of(outcome);
  if (request.store)
    if (const auto stored = store(a, b, outcome, request); !stored)
      outcome.notes.push_back("cannot write regress/ in session B: " + stored.error().message);
  return outcome;
}

}  // namespace aaco::workflows
