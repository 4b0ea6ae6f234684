#include "workflows/session_report/report_search.h"

#include <algorithm>
#include <cmath>

#include "core/files.h"

namespace aaco::workflows {
namespace {

using core::Json;

report::Scaling::Point search_point(const Json& trial) {
  report::Scaling::Point point;
  for (const auto& [axis, value] : trial["values"].members())
    point.label += (point.label.empty() ? "" : " ") + axis + "=" + std::string(value.text());
  point.batch = trial["batch"].as_i64();
  if (trial["outcome"].text() != "ok") {
    point.error = std::string(trial["outcome"].text()) + ": " + std::string(trial["reason"].text());
    return point;
  }
  if (const auto median = trial["median_ns"].as_f64()) point.median_ns = {*median, {}};
  if (const auto items = trial["items_per_second"].as_f64()) point.items_per_second = {*items, {}};
  if (const auto effect = trial["log_effect"].as_f64()) point.relative_ratio = std::exp(-*effect);
  return point;
}

report::Scaling::Point baseline_point(const Json& baseline) {
  report::Scaling::Point point;
  point.label = "baseline";
  point.batch = baseline["batch"].as_i64();
  const double median = baseline["warm_median_ns"].as_f64().value_or(0);
  if (median <= 0) return point;
  point.median_ns = {median, {}};
  point.items_per_second = {static_cast<double>(point.batch.value_or(1)) * 1e9 / median, {}};
  point.relative_ratio = 1;
  return point;
}

}  // namespace

report::Scaling search_points(const Json& document) {
  report::Scaling found;
  found.summary = {std::string(document["summary"].text()), document["proven"].as_bool().value_or(false) ? "high" : "low"};
  for (const Json& trial : document["trials"].items()) found.points.push_back(search_point(trial));
  std::stable_sort(found.points.begin(), found.points.end(),
                   [](const auto& a, const auto& b) { return a.relative_ratio.value_or(0) > b.relative_ratio.value_or(0); });
  if (document["baseline"].is_object()) found.points.insert(found.points.begin(), baseline_point(document["baseline"]));
  return found;
}

core::Status fill_search(report::ReportModel& model, const std::string& session_path) {
  if (model.session.kind != "optimize") return {};
  const std::string path = core::join_path(session_path, "metrics/optimize.json");
  if (!core::exists(path)) return {};
  AACO_ASSIGN(const Json document, core::read_json_file(path));
  model.sections.scaling = search_points(document);
  model.verdict = model.session.outcome.model + ": " + std::string(document["summary"].text()) + ".";
  model.verdict_confidence = document["proven"].as_bool().value_or(false) ? "high" : "";
  return {};
}

}  // namespace aaco::workflows
