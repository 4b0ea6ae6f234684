#include "workflows/session_report/report_search.h"

#include <algorithm>
#include <cmath>

#include "core/files.h"

namespace aaco::workflows {
namespace {

using core::Json;

report::Search::Trial search_trial(const Json& trial, bool throughput) {
  report::Search::Trial point;
  for (const auto& [axis, value] : trial["values"].members())
    point.label += (point.label.empty() ? "" : " ") + axis + "=" + std::string(value.text());
  point.outcome = trial["outcome"].text();
  point.reason = trial["reason"].text();
  point.median_ns = trial["median_ns"].as_f64();
  point.p99_ns = trial["p99_ns"].as_f64();
  point.items_per_second = trial["items_per_second"].as_f64();
  point.rss_peak_bytes = trial["rss_peak_bytes"].as_i64();
  point.output_error_ratio = trial["agreement"]["max_error_ratio"].as_f64();
  if (const auto effect = trial["log_effect"].as_f64()) point.change_ratio = std::expm1(throughput ? -*effect : *effect);
  point.pareto = trial["pareto"].as_bool().value_or(false);
  return point;
}

report::Search::Trial baseline_trial(const Json& baseline) {
  report::Search::Trial point;
  point.label = point.outcome = "baseline";
  point.rss_peak_bytes = baseline["rss_peak_bytes"].as_i64();
  point.output_error_ratio = 0;
  const double median = baseline["warm_median_ns"].as_f64().value_or(0);
  if (median <= 0) return point;
  point.median_ns = median;
  point.items_per_second = static_cast<double>(baseline["batch"].as_i64().value_or(1)) * 1e9 / median;
  return point;
}

std::optional<report::Search::Proof> proof_of(const Json& proof) {
  const auto change = proof["change_ratio"].as_f64();
  if (!change) return std::nullopt;
  return report::Search::Proof{std::string(proof["configuration"].text()),  std::string(proof["metric"].text()),
                               std::string(proof["verdict"].text()),        *change,
                               proof["interval"]["low"].as_f64(),           proof["interval"]["high"].as_f64(),
                               proof["smallest_detectable_ratio"].as_f64(), proof["rounds"].as_i64().value_or(0)};
}

// Usable ones first, the best of them first; then those that are out.
void sort_trials(std::vector<report::Search::Trial>& trials, bool throughput) {
  const auto key = [&](const report::Search::Trial& trial) {
    const bool usable = trial.outcome == "ok" || trial.outcome == "winner";
    const double change = trial.change_ratio.value_or(HUGE_VAL);
    return std::pair(usable ? 0 : trial.change_ratio ? 1 : 2, throughput && trial.change_ratio ? -change : change);
  };
  std::stable_sort(trials.begin(), trials.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
}

}  // namespace

report::Search search_section(const Json& document) {
  report::Search found;
  const Json& counts = document["counts"];
  const auto count = [&](const char* name) { return counts[name].as_i64().value_or(0); };
  found.objective = document["for"].text();
  found.summary = document["summary"].text();
  found.recommendation = document["recommendation"].text();
  found.inputs = document["inputs"].text();
  found.configurations = count("configurations");
  found.tried = count("tried");
  found.failed = count("failed");
  found.out_of_tolerance = count("out_of_tolerance");
  found.proof = proof_of(document["proof"]);
  for (const Json& part : document["parts"].items())
    found.parts.push_back({std::string(part["change"].text()), part["without_ratio"].as_f64().value_or(0)});
  const bool throughput = found.objective == "throughput";
  for (const Json& trial : document["trials"].items()) found.trials.push_back(search_trial(trial, throughput));
  sort_trials(found.trials, throughput);
  if (document["proven"].as_bool().value_or(false) && found.proof)
    for (report::Search::Trial& trial : found.trials)
      if (trial.label == found.proof->configuration) trial.outcome = "winner";
  if (document["baseline"].is_object()) found.trials.insert(found.trials.begin(), baseline_trial(document["baseline"]));
  return found;
}

core::Status fill_search(report::ReportModel& model, const std::string& session_path) {
  if (model.session.kind != "optimize") return {};
  const std::string path = core::join_path(session_path, "metrics/optimize.json");
  if (!core::exists(path)) return {};
  AACO_ASSIGN(const Json document, core::read_json_file(path));
  model.sections.search = search_section(document);
  model.verdict = model.session.outcome.model + ": " + std::string(document["summary"].text()) + ".";
  model.verdict_confidence = document["proven"].as_bool().value_or(false) ? "high" : "";
  return {};
}

}  // namespace aaco::workflows
