#include "workflows/session/metrics_files.h"

#include "core/files.h"
#include "tracelake/metric_index.h"

namespace aaco::workflows {
namespace {

using analytics::metrics::MetricCatalogue;
using core::Json;

bool has_bands(const MetricCatalogue& catalogue, const std::string& id) {
  const auto* definition = catalogue.find(id);
  return definition != nullptr && !definition->bands.empty();
}

trace::Metrics chosen(const trace::Metrics& metrics, const MetricCatalogue& catalogue, bool derived) {
  trace::Metrics some;
  for (const trace::MetricValue& metric : metrics)
    if (has_bands(catalogue, metric.id) == derived) some.push_back(metric);
  return some;
}

Json with_band(const Json& value, const analytics::metrics::MetricDefinition& definition) {
  Json out = value;
  const auto* band = analytics::metrics::band_of(definition, value["value"].as_f64().value_or(0));
  return band != nullptr ? out.set("band", band->name) : out;
}

Json document_of(Json metrics) { return Json::object({{"schema_version", 1}, {"metrics", std::move(metrics)}}); }

}  // namespace

core::Json derived_metrics(const trace::Metrics& metrics, const MetricCatalogue& catalogue) {
  Json out = Json::object();
  const Json values = to_json(chosen(metrics, catalogue, true));
  for (const auto& [id, value] : values.members()) {
    const auto& definition = *catalogue.find(id);
    if (!value.is_array()) {
      out.set(id, with_band(value, definition));
      continue;
    }
    Json list = Json::array();
    for (const Json& one : value.items()) list.push(with_band(one, definition));
    out.set(id, std::move(list));
  }
  return document_of(std::move(out));
}

core::Json summary_metrics(const trace::Metrics& metrics, const MetricCatalogue& catalogue) {
  return document_of(to_json(chosen(metrics, catalogue, false)));
}

core::Result<trace::Metrics> read_metrics(const std::string& session_path) {
  trace::Metrics all;
  for (const std::string_view file : tracelake::MetricIndex::kDocuments) {
    const std::string path = core::join_path(session_path, file);
    if (!core::exists(path)) continue;
    AACO_ASSIGN(const core::Json document, core::read_json_file(path));
    AACO_ASSIGN(trace::Metrics metrics, trace::metrics_from_json(document["metrics"]));
    all.insert(all.end(), std::make_move_iterator(metrics.begin()), std::make_move_iterator(metrics.end()));
  }
  return all;
}

}  // namespace aaco::workflows
