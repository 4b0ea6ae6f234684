#include "workflows/diff_json.h"

namespace aaco::workflows {
namespace {

using analytics::regression::MetricResult;
using core::Json;

constexpr std::size_t kListedKernels = 50;  // listed, the largest differences first
constexpr std::size_t kListedGrids = 10;    // of a kernel, the same

Json interval_json(const stats::Interval& interval) { return Json::array({interval.low, interval.high}); }

Json side_json(const analytics::tracediff::KernelSide& side) {
  return Json::object({{"calls_per_step", side.calls_per_step}, {"mean_ns", side.mean_ns}, {"per_step_ns", side.per_step_ns}});
}

Json change_json(Json first, const analytics::tracediff::CallChange& row) {
  return first.set("change", to_string(row.change))
      .set("verdict", to_string(row.verdict))
      .set("p_holm", row.p_holm)
      .set("call_ratio", row.call_ratio)
      .set("delta_ns", row.delta_ns)
      .set("count_part_ns", row.count_part_ns)
      .set("time_part_ns", row.time_part_ns)
      .set("baseline", side_json(row.a))
      .set("candidate", side_json(row.b));
}

Json kernels_json(const analytics::tracediff::TraceDifference& difference) {
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(kListedKernels, difference.kernels.size()); ++i) {
    const auto& kernel = difference.kernels[i];
    Json row = change_json(Json::object({{"kernel", kernel.name}}), kernel);
    if (!kernel.grids.empty()) {
      Json grids = Json::array();
      for (std::size_t j = 0; j < std::min(kListedGrids, kernel.grids.size()); ++j)
        grids.push(change_json(Json::object({{"grid", analytics::tracediff::to_string(kernel.grids[j].grid)}}), kernel.grids[j]));
      row.set("grid_count", kernel.grids.size()).set("grids", std::move(grids));
    }
    list.push(std::move(row));
  }
  return Json::object({{"delta_ns", difference.delta_ns},
                       {"kernel_count", difference.kernels.size()},
                       {"order_changes", difference.order.size()},
                       {"order_complete", difference.order_complete},
                       {"kernels", std::move(list)}});
}

void add_tests(const MetricResult& metric, Json& out) {
  if (metric.welch) out.set("welch_p", metric.welch->p_value);
  if (metric.rank) out.set("rank_p", metric.rank->p_value).set("superiority_ratio", metric.rank->superiority_ratio);
  if (metric.shift) out.set("shift", Json::object({{"value", metric.shift->value}, {"ci95", interval_json(metric.shift->ci95)}}));
  out.set_if("p_value", metric.p_value).set_if("p_holm", metric.p_holm).set_if("q_value", metric.q_value);
}

}  // namespace

Json to_json(const MetricResult& metric) {
  Json out = Json::object({{"metric", metric.id}, {"unit", metric.unit}, {"scope", metric.scope}});
  out.set_if("device", metric.device);
  out.set("method", to_string(metric.method)).set("verdict", to_string(metric.verdict));
  if (!metric.reason.empty()) out.set("reason", metric.reason);
  out.set("threshold_ratio", metric.threshold_ratio)
      .set_if("baseline", metric.baseline)
      .set_if("candidate", metric.candidate)
      .set_if("delta_ratio", metric.delta_ratio);
  if (metric.interval) out.set("interval", interval_json(*metric.interval));
  if (metric.detectable)
    out.set("smallest_detectable_ratio", metric.detectable->increase_ratio)
        .set("smallest_detectable_decrease_ratio", metric.detectable->decrease_ratio);
  if (metric.method != analytics::regression::Method::none)
    out.set("confidence", confidence_of(metric))
        .set("between_sessions_known", metric.between_sessions_known)
        .set("corrected", metric.corrected);
  add_tests(metric, out);
  out.set_if("third_session_within_ratio", metric.third_session_within_ratio);
  out.set_if("more_sessions", metric.more_sessions).set_if("more_iterations", metric.more_iterations);
  return out.set("explanation", metric.explanation);
}

Json to_json(const std::vector<hardware::Difference>& differences) {
  Json out = Json::array();
  for (const auto& d : differences)
    out.push(Json::object({{"key", d.key},
                           {"baseline", d.a},
                           {"candidate", d.b},
                           {"forbids", d.severity == hardware::Severity::hard},
                           {"severity", to_string(d.severity)},
                           {"meaning", d.meaning}}));
  return out;
}

Json to_json(const DiffOutcome& outcome, const DiffRequest& request) {
  Json metrics = Json::array();
  for (const auto& metric : outcome.metrics) metrics.push(to_json(metric));
  Json out = Json::object({{"schema_version", 1},
                           {"verdict", outcome.verdict},
                           {"regression", outcome.verdict == "regression"},
                           {"severity", outcome.severity},
                           {"confidence", outcome.confidence},
                           {"latency_delta_pct", outcome.latency_delta_pct},
                           {"suspected_cause", outcome.cause ? Json(outcome.cause->cause) : Json()},
                           {"evidence", to_json(outcome.evidence)},
                           {"recommendation", outcome.recommendation},
                           {"comparable", outcome.comparable},
                           {"forced", !outcome.comparable && request.force},
                           {"baseline", Json::texts(outcome.baseline_ids)},
                           {"candidate", Json::texts(outcome.candidate_ids)},
                           {"threshold_ratio", request.metrics.threshold_ratio},
                           {"level", request.level}});
  if (!outcome.metrics.empty()) out.set("decided_by", outcome.metrics.front().id);
  if (!outcome.opposite.empty()) out.set("opposite", outcome.opposite);
  if (outcome.history)
    out.set("history",
            Json::object({{"sessions", outcome.history->sessions}, {"deviation_ratio", outcome.history->deviation_ratio}}));
  if (outcome.cause) out.set_if("root_cause", outcome.cause->details);
  out.set("differences", to_json(outcome.differences)).set("statistics", std::move(metrics));
  if (outcome.kernels) out.set("kernels", kernels_json(*outcome.kernels));
  if (outcome.nodes) out.set("nodes", to_json(*outcome.nodes));
  if (outcome.distributions) out.set("distributions", to_json(*outcome.distributions));
  if (!outcome.idle_causes.empty()) out.set("idle_causes", to_json(outcome.idle_causes));
  return out.set("notes", Json::texts(outcome.notes));
}

}  // namespace aaco::workflows
