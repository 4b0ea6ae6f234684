#include "workflows/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/clock.h"
#include "core/files.h"
#include "core/numbers.h"
#include "stats/distributions.h"

namespace aaco::workflows {
namespace {

using analytics::regression::MetricResult;
using core::Json;

// How much equal sessions differ where nothing of the lake tells: medians of processes of one CPU run differ by up to 40 % on
// shared machines, in two modes (docs/methodology.md), traces of one GPU program by a few percent (our own judgement).
constexpr double kAssumedBetweenRuns = 0.20;
constexpr double kAssumedBetweenTraces = 0.03;

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
  if (cut) notes.emplace_back("a trace has more kernels than are compared one by one: the first two million only");
  return analytics::tracediff::compare(steps_a, steps_b);
}

std::optional<double> latency_delta(const std::vector<MetricResult>& metrics) {
  const auto find = [&](auto&& wanted) -> const MetricResult* {
    const auto found =
        std::find_if(metrics.begin(), metrics.end(), [&](const auto& one) { return one.delta_ratio && wanted(one); });
    return found == metrics.end() ? nullptr : &*found;
  };
  const auto* median = find([](const MetricResult& one) { return one.id == "latency.p50_ns"; });
  if (median == nullptr) median = find([](const MetricResult& one) { return one.id.starts_with("latency."); });
  if (median == nullptr) median = find([](const MetricResult& one) { return one.id == "gpu.span_ns"; });
  if (median == nullptr)
    median = find([](const MetricResult& one) { return one.id == "gpu.busy_ns" || one.id == "gpu.kernel_sum_ns"; });
  return median != nullptr ? std::optional(*median->delta_ratio * 100) : std::nullopt;
}

// Kernels that became slower are a regression even where idle time hides them, and the time of a step that nothing named asks
// about does not tell of them: the kernels' time decides where it regressed and the leading metric did not. It stands under
// Holm's correction for being one of many.
void let_kernels_decide(std::vector<MetricResult>& metrics) {
  if (metrics.front().verdict == stats::Verdict::regression) return;
  const auto kernels =
      std::find_if(metrics.begin(), metrics.end(), [](const MetricResult& one) { return one.id == "gpu.kernel_sum_ns"; });
  if (kernels != metrics.end() && kernels->verdict == stats::Verdict::regression)
    std::rotate(metrics.begin(), kernels, kernels + 1);
}

// Every budget of a baseline was agreed to, so that none may be broken behind the back of the one that leads: the one broken by
// the largest multiple of it decides. Those behind the first stand under Holm's correction.
void let_budgets_decide(DiffOutcome& outcome) {
  auto& metrics = outcome.metrics;
  if (metrics.front().verdict == stats::Verdict::regression) return;
  const auto multiple = [](const MetricResult& one) {
    const bool broken = one.verdict == stats::Verdict::regression && one.delta_ratio && one.threshold_ratio > 0;
    return broken ? std::abs(*one.delta_ratio) / one.threshold_ratio : 0;
  };
  const auto worst =
      std::max_element(metrics.begin(), metrics.end(), [&](const auto& x, const auto& y) { return multiple(x) < multiple(y); });
  if (multiple(*worst) <= 0) return;
  outcome.notes.push_back(fmt::format("{} broke its budget of {} and decides; {} is {}", worst->id,
                                      core::format_percent(worst->threshold_ratio), metrics.front().id,
                                      to_string(metrics.front().verdict)));
  std::rotate(metrics.begin(), worst, worst + 1);
}

void decide(DiffOutcome& outcome) {
  const MetricResult& first = outcome.metrics.front();
  outcome.verdict = std::string(to_string(first.verdict));
  outcome.severity = std::string(severity_of(first));
  outcome.confidence = confidence_of(first);
  outcome.latency_delta_pct = latency_delta(outcome.metrics);
  for (std::size_t i = 1; i < outcome.metrics.size(); ++i)
    if (outcome.metrics[i].verdict == stats::Verdict::regression && first.verdict != stats::Verdict::regression)
      outcome.notes.push_back(outcome.metrics[i].id +
                              " regressed too, and does not decide: name it first with --metric to judge by it");
}

std::string recommend(const DiffOutcome& outcome) {
  if (outcome.verdict == "not-comparable" && outcome.differences.front().key == "baseline.expired")
    return "measure a new baseline ('aaco baseline add NAME SESSION --replace'), or judge by the old one with --force";
  if (outcome.verdict == "not-comparable")
    return "make both sides equal in " + outcome.differences.front().key + ", or compare anyway with --force";
  const MetricResult& first = outcome.metrics.front();
  if (first.method == analytics::regression::Method::none) return first.reason;
  if (outcome.verdict == "equivalent") return "nothing to do";
  if (outcome.verdict == "inconclusive") {
    if (first.more_iterations) return "measure about " + std::to_string(*first.more_iterations) + " more iterations a side";
    if (first.more_sessions)
      return "measure about " + std::to_string(*first.more_sessions) +
             (*first.more_sessions == 1 ? " more session" : " more sessions") + " a side, or use 'aaco ab'";
    if (first.smallest_detectable_ratio.value_or(0) > 2 * first.threshold_ratio)
      return "measure more sessions on a quieter machine ('aaco capsule', --isolate), or use 'aaco ab', which alternates both "
             "sides";
    return "use 'aaco ab', which alternates both sides, or another --threshold: the change lies too near this one";
  }
  return outcome.cause ? outcome.cause->recommendation
                       : "run both sides with --profile, or import a trace of each, to see where the difference comes from";
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
  const auto narrow = [&](std::string_view id, double deviation_ns) {
    const double half = stats::kNormal95 * deviation_ns / std::sqrt(2.0);  // each side's share
    for (auto& metric : metrics)
      if (metric.id == id && !metric.device)
        for (auto* sample : {&metric.a.front(), &metric.b.front()})
          if (sample->series.empty() && sample->value && *sample->value > half)
            sample->ci95 = stats::Interval{*sample->value - half, *sample->value + half};
  };
  narrow("gpu.span_ns", deviation->span_ns);
  narrow("gpu.kernel_sum_ns", deviation->kernel_sum_ns / static_cast<double>(of_a.steps.size()));
}

core::Status compare_numbers(const ComparedSide& a, const ComparedSide& b, const DiffRequest& request, const Services& services,
                             DiffOutcome& outcome) {
  AACO_ASSIGN(const auto catalogue,
              analytics::metrics::MetricCatalogue::load(core::join_path(services.paths.share, "data/metrics")));
  AACO_ASSIGN(auto metrics, comparison_metrics(request.metrics, a, b, catalogue));
  pair_spans(a, b, metrics);
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
  options.assumed_between_ratio = traced ? kAssumedBetweenTraces : kAssumedBetweenRuns;
  services.progress("comparing");
  outcome.metrics = analytics::regression::compare(metrics, options);
  if (request.metrics.names.empty()) let_kernels_decide(outcome.metrics);
  if (request.every_budget) let_budgets_decide(outcome);
  decide(outcome);
  outcome.evidence = find_evidence(a, b);
  outcome.kernels = kernel_differences(a, b, outcome.notes);
  AACO_ASSIGN(outcome.cause, suspect_cause(a, b, outcome.metrics.front(), outcome.evidence, outcome.differences, services));
  return {};
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
    if (!outcome.comparable) outcome.notes.emplace_back("compared by force: the sides measure different things");
  } else {
    outcome.verdict = "not-comparable";
    outcome.confidence = 1;  // the facts differ for certain
  }
  for (const auto& [side, letter] : {std::pair(&a, "A"), std::pair(&b, "B")})
    for (std::string note : {interruption_note(*side, letter), disturbance_note(*side, letter)})
      if (!note.empty()) outcome.notes.push_back(std::move(note));
  for (const ComparedSide* side : {&a, &b})
    for (const ComparedSession& session : side->sessions)
      if (!session.changed.empty())
        outcome.notes.push_back(session.changed + " of " + session.id +
                                " changed after the session was closed: 'aaco verify' tells what else");
  for (const std::string& id : outcome.candidate_ids)
    if (std::count(outcome.baseline_ids.begin(), outcome.baseline_ids.end(), id) > 0)
      outcome.notes.push_back("both sides hold the session " + id + ": laid beside itself it tells nothing of another one");
  outcome.recommendation = recommend(outcome);
  if (request.store)
    if (const auto stored = store(a, b, outcome, request); !stored)
      outcome.notes.push_back("regress/ of the session was not written: " + stored.error().message);
  return outcome;
}

}  // namespace aaco::workflows
