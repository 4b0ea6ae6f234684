#include "workflows/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "analytics/metric_catalogue.h"
#include "core/files.h"
#include "core/json.h"
#include "trace/metric.h"
#include "tracelake/bundle.h"
#include "tracelake/export.h"
#include "workflows/session/metrics_files.h"

namespace aaco::workflows {
namespace {

using analytics::metrics::MetricCatalogue;
using core::Json;

std::string label_value(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

// The samples of one metric stand together, as the format asks for.
class PrometheusText {
 public:
  explicit PrometheusText(const MetricCatalogue& catalogue) : catalogue_(catalogue) {}
  void add(const trace::MetricValue& metric, const std::string& labels) {
    std::string name = "aaco_" + metric.id;
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; }, '_');
    std::string& samples = samples_[name];
    if (samples.empty()) {
      const auto* definition = catalogue_.find(metric.id);
      if (definition != nullptr) samples = fmt::format("# HELP {} {}\n", name, definition->title);
      samples += fmt::format("# TYPE {} gauge\n", name);
    }
    const std::string device = metric.device ? fmt::format(",device=\"{}\"", *metric.device) : std::string();
    samples += fmt::format("{}{{{}{}}} {}\n", name, labels, device, metric.value);
  }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const auto& [name, samples] : samples_) all += samples;
    return all;
  }

 private:
  const MetricCatalogue& catalogue_;
  std::map<std::string, std::string> samples_;
};

// The session's metrics; of a load on a server those of each level.
core::Result<std::string> prometheus_text(const std::string& path, const trace::SessionManifest& manifest,
                                          const core::Paths& paths) {
  AACO_ASSIGN(const auto catalogue, MetricCatalogue::load(core::join_path(paths.share, "data/metrics")));
  AACO_ASSIGN(const trace::Metrics metrics, read_metrics(path));
  const std::string labels =
      fmt::format("session=\"{}\",kind=\"{}\",model=\"{}\",tag=\"{}\"", label_value(manifest.id.text), label_value(manifest.kind),
                  label_value(manifest.outcome.model), label_value(manifest.tag));
  PrometheusText text(catalogue);
  const std::string summary = core::join_path(path, "metrics/llm_summary.json");
  const bool levels = manifest.kind == "llm" && core::exists(summary);
  for (const trace::MetricValue& metric : metrics)
    if (!levels || !metric.id.starts_with("llm.")) text.add(metric, labels);
  if (levels) {
    AACO_ASSIGN(const Json document, core::read_json_file(summary));
    for (const Json& level : document["levels"].items()) {
      AACO_ASSIGN(const trace::Metrics of_level, trace::metrics_from_json(level["metrics"]));
      for (const trace::MetricValue& metric : of_level)
        text.add(metric, fmt::format("{},load=\"{}\"", labels, label_value(level["load"].text())));
    }
  }
  return text.text();
}

// Adds what to do where the output could not be written.
template <class T>
core::Result<T> written(core::Result<T> result) {
  if (result || !result.error().remedy.empty()) return result;
  core::Error error = std::move(result).error();
  error.remedy =
      error.code == core::ErrorCode::not_found ? "create the folder first, or choose another output" : "choose another output";
  return tl::unexpected<core::Error>(std::move(error));
}

}  // namespace

core::Result<std::string> export_session(const ExportRequest& request, const core::Paths& paths) {
  AACO_ASSIGN(const std::string path, tracelake::find_session(paths.sessions, request.session));
  AACO_ASSIGN(const auto manifest, tracelake::read_manifest(path));
  const std::string id = manifest.id.text;
  if (request.format == "csv") {
    const std::string folder = request.output.empty() ? id + "-csv" : request.output;
    AACO_TRY(written(tracelake::export_csv(path, folder)));
    return core::absolute_path(folder);
  }
  if (request.format == "prometheus") {
    const std::string file = !request.output.empty() ? request.output : id + ".prom";
    AACO_ASSIGN(const std::string text, prometheus_text(path, manifest, paths));
    AACO_TRY(written(core::write_file_atomic(file, text)));
    return core::absolute_path(file);
  }
  const bool chrome = request.format == "chrome";
  const std::string file = !request.output.empty() ? request.output : id + (chrome ? ".json" : ".perfetto-trace");
  const auto format = chrome ? tracelake::TimelineFormat::chrome : tracelake::TimelineFormat::perfetto;
  AACO_TRY(written(tracelake::export_timeline(path, format, file)));
  return core::absolute_path(file);
}

}  // namespace aaco::workflows
