#include "workflows/gate.h"

#include <fmt/format.h>

#include "core/clock.h"
#include "core/numbers.h"
#include "workflows/baseline.h"
#include "workflows/baseline_side.h"
#include "workflows/diff_json.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

bool expired_or_refused(const GateRequest& request, const ComparedSide& a, GateOutcome& outcome) {
  auto found = baseline_differences(*a.baseline, core::SystemClock().now_ns(core::ClockId::realtime));
  if (request.require_approval)
    for (auto& difference : found)
      if (difference.key == kApproval) difference.severity = hardware::Severity::hard;
  if (hardware::comparable(found) || request.force) return false;
  outcome.verdict.verdict = "not-comparable";
  outcome.verdict.confidence = 1;
  outcome.verdict.comparable = false;
  outcome.verdict.baseline_ids = a.ids();
  outcome.verdict.candidate_ids = request.sessions;
  outcome.verdict.baseline_name = a.baseline->name;
  const bool approval = found.front().key == kApproval && found.front().severity == hardware::Severity::hard;
  outcome.verdict.recommendation = approval ? "review it, then 'aaco baseline approve " + a.baseline->name + " --by NAME'"
                                            : "measure a new one: 'aaco baseline add " + a.baseline->name + " SESSION --replace'";
  outcome.verdict.differences = std::move(found);
  return true;
}

core::Result<RunRequest> request_for(const GateRequest& request, const governance::Baseline& baseline) {
  if (request.run) return *request.run;
  if (baseline.request.empty())
    return core::fail(ErrorCode::invalid_input,
                      "baseline " + baseline.name + " does not record its run command, so the measurement cannot be repeated",
                      "pass sessions with --session, or run options after '--'");
  AACO_ASSIGN(const Json document, Json::parse(baseline.request));
  return run_request_from_json(document);
}

// The load on a server or the decoder in this process; empty: a run.
core::Result<std::optional<LlmSide>> llm_side_for(const GateRequest& request, const governance::Baseline& baseline) {
  if (request.llm || request.run || baseline.request.empty()) return request.llm;
  AACO_ASSIGN(const Json document, Json::parse(baseline.request));
  if (!is_llm_request(document)) return std::optional<LlmSide>();
  RunRequest run;
  if (document["url"].text().empty()) {
    AACO_ASSIGN(run, run_request_from_json(document));
  }
  AACO_ASSIGN(LlmSide side, llm_side_from_json(document, run));
  return std::optional(std::move(side));
}

core::Result<std::string> measure_load(LlmSide side, const GateRequest& request, const std::string& name,
                                       const Services& services) {
  if (request.delay != InjectedDelay{})
    return core::fail(ErrorCode::invalid_argument, "--inject-delay does not apply to sessions of 'aaco llm'",
                      "it delays the calls of 'aaco run'");
  if (tag_of(side).empty()) tag_of(side) = "gate-" + name;
  AACO_ASSIGN(const SessionOutcome made, measure_llm(side, services));
  return made.path;
}

core::Result<std::string> measure_one(const GateRequest& request, const governance::Baseline& baseline,
                                      const Services& services) {
  AACO_ASSIGN(auto side, llm_side_for(request, baseline));
  if (side) return measure_load(*std::move(side), request, baseline.name, services);
  AACO_ASSIGN(RunRequest one, request_for(request, baseline));
  const std::string& name = baseline.name;
  one.delay = request.delay;
  if (one.tag.empty()) one.tag = "gate-" + name;
  AACO_ASSIGN(const SessionOutcome made, run(one, services));
  return made.path;
}

}  // namespace

core::Result<RunRequest> run_request_from_json(const Json& document) {
  RunRequest request;
  request.model = std::string(document["model"].text());
  if (request.model.empty()) return core::fail(ErrorCode::invalid_input, "the request has no model");
  if (document["backend"].is_string()) request.backend = std::string(document["backend"].text());
  request.batch = document["batch"].as_i64();
  for (const auto& [name, size] : document["dimensions"].members())
    if (const auto value = size.as_i64()) request.dimensions[name] = *value;
  for (const auto& [name, sizes] : document["shapes"].members())
    for (const Json& size : sizes.items()) request.shapes[name].push_back(size.as_i64().value_or(0));
  for (const auto& [name, file] : document["inputs"].members()) request.inputs[name] = std::string(file.text());
  for (const auto& [name, value] : document["provider_options"].members())
    request.provider_options[name] = std::string(value.text());
  for (const auto& [name, value] : document["session_options"].members())
    request.session_options[name] = std::string(value.text());
  request.warmup = document["warmup"].as_i64();
  request.iterations = document["iterations"].as_i64();
  if (const auto ns = document["duration_ns"].as_i64()) request.duration = core::Nanoseconds(*ns);
  request.precision_ratio = document["precision_ratio"].as_f64();
  if (const auto threads = document["threads"].as_i64(); threads && *threads > 0) request.threads = static_cast<int>(*threads);
  if (document["graph_level"].is_string()) request.graph_level = std::string(document["graph_level"].text());
  if (const auto seed = document["seed"].as_u64()) request.seed = *seed;
  request.telemetry = document["telemetry"].as_bool().value_or(false);
  request.ebpf = document["ebpf"].as_bool().value_or(false);
  if (const auto period = document["telemetry_period_ns"].as_i64()) request.telemetry_period = core::Nanoseconds(*period);
  request.profile = document["profile"].as_bool().value_or(false);
  if (document["dtype"].is_string()) request.dtype = std::string(document["dtype"].text());
  request.allow_fallback = document["allow_fallback"].as_bool().value_or(false);
  return request;
}

core::Result<std::optional<RunRequest>> run_of_baseline(const std::string& name, const Services& services) {
  AACO_ASSIGN(const std::string path, find_baseline(name, services));
  AACO_ASSIGN(const auto baseline, load_baseline(path));
  if (baseline.request.empty()) return std::optional<RunRequest>();
  AACO_ASSIGN(const Json document, Json::parse(baseline.request));
  if (is_llm_request(document)) return std::optional<RunRequest>();
  AACO_ASSIGN(RunRequest request, run_request_from_json(document));
  return std::optional(std::move(request));
}

core::Result<GateOutcome> gate(const GateRequest& request, const Services& services) {
  AACO_ASSIGN(const std::string path, find_baseline(request.baseline, services));
  AACO_ASSIGN(auto baseline, load_baseline(path));
  const ComparedSide a = side_of(std::move(baseline));
  GateOutcome outcome;
  if (!request.sessions.empty() && request.delay != InjectedDelay{})
    return core::fail(ErrorCode::invalid_argument,
                      "--inject-delay delays calls that the gate measures; stored sessions cannot be delayed",
                      "remove --session or --inject-delay");
  if (expired_or_refused(request, a, outcome)) return outcome;
  std::vector<std::string> candidates = request.sessions;
  const auto measure_another = [&]() -> core::Status {
    AACO_ASSIGN(std::string made, measure_one(request, *a.baseline, services));
    outcome.measured.push_back(made);
    candidates.push_back(std::move(made));
    return {};
  };
  if (candidates.empty()) AACO_TRY(measure_another());
  outcome.asked.force = request.force;
  outcome.asked.use_history = request.use_history;
  outcome.asked.level = 1 - (1 - request.level) / (request.retries + 1);
  outcome.asked = with_policy(outcome.asked, a);
  for (;;) {
    AACO_ASSIGN(const ComparedSide b, load_side(candidates, services));
    AACO_ASSIGN(outcome.verdict, diff_sides(a, b, outcome.asked, services));
    ++outcome.attempts;
    if (outcome.verdict.verdict != "inconclusive" || outcome.attempts > request.retries || services.stopping()) break;
    services.progress(fmt::format("inconclusive: measuring again ({} of {})", outcome.attempts, request.retries));
    AACO_TRY(measure_another());
  }
  if (request.delay != InjectedDelay{})
    outcome.verdict.notes.emplace_back("each measured call was delayed by --inject-delay: this verdict is a test of the gate");
  if (outcome.attempts > 1)
    outcome.verdict.notes.push_back(fmt::format("{} comparisons, each at confidence level {} to keep an overall level of {}",
                                                outcome.attempts, core::format_percent(outcome.asked.level),
                                                core::format_percent(request.level)));
  return outcome;
}

governance::GateReport gate_report(const GateOutcome& outcome) {
  const DiffOutcome& verdict = outcome.verdict;
  governance::GateReport report;
  report.name = verdict.baseline_name;
  report.verdict = verdict.verdict;
  report.severity = verdict.severity;
  report.confidence = verdict.confidence;
  report.recommendation = verdict.recommendation;
  if (verdict.cause) report.suspected_cause = verdict.cause->cause;
  for (const auto& difference : verdict.differences) report.differences.push_back(to_text(difference));
  report.notes = verdict.notes;
  report.baseline_sessions = verdict.baseline_ids;
  report.candidate_sessions = verdict.candidate_ids;
  for (const auto& metric : verdict.metrics) {
    governance::GateRow row;
    row.metric = metric.device ? fmt::format("{}[{}]", metric.id, *metric.device) : metric.id;
    row.unit = metric.unit;
    const auto budget = outcome.asked.metrics.budgets.find(metric.id);
    row.lower_is_better =
        budget == outcome.asked.metrics.budgets.end() || budget->second.better != analytics::regression::Better::higher;
    row.decides = &metric == &verdict.metrics.front();
    row.budget_ratio = metric.threshold_ratio;
    row.verdict = std::string(to_string(metric.verdict));
    row.baseline = metric.baseline;
    row.candidate = metric.candidate;
    row.delta_ratio = metric.delta_ratio;
    row.interval = metric.interval;
    row.detectable = metric.detectable;
    row.explanation = metric.delta_ratio ? metric.explanation : metric.reason;
    report.rows.push_back(std::move(row));
  }
  return report;
}

Json to_json(const GateOutcome& outcome) {
  Json measured = Json::texts(outcome.measured);
  return to_json(outcome.verdict, outcome.asked)
      .set("gate",
           Json::object(
               {{"baseline", outcome.verdict.baseline_name}, {"attempts", outcome.attempts}, {"measured", std::move(measured)}}));
}

}  // namespace aaco::workflows
