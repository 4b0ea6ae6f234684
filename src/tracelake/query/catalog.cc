#include "tracelake/query/catalog.h"

#include <algorithm>
#include <array>

#include "core/files.h"
#include "core/strings.h"
#include "trace/metric.h"
#include "tracelake/duckdb/appender.h"
#include "tracelake/store/paths.h"

namespace aaco::tracelake::query {
namespace {

using core::join_path;

constexpr std::string_view kSessionsTable =
    "CREATE OR REPLACE TABLE sessions (session_id VARCHAR, date DATE, state VARCHAR, kind VARCHAR, tag VARCHAR, created "
    "TIMESTAMP, "
    "tool_version VARCHAR, home_clock VARCHAR, fingerprint VARCHAR, command JSON, request JSON, outcome JSON, warnings JSON, "
    "accounts JSON, path VARCHAR)";
constexpr std::string_view kMetricsTable =
    "CREATE TABLE IF NOT EXISTS metrics (session_id VARCHAR, date DATE, metric VARCHAR, value DOUBLE, unit VARCHAR, "
    "ci95_low DOUBLE, ci95_high DOUBLE, device BIGINT)";
constexpr std::array<std::string_view, 2> kMetricFiles = {"metrics/inference_summary.json", "metrics/derived_metrics.json"};

bool is_whole(const SessionEntry& entry) { return entry.manifest.state == "complete" || entry.manifest.state == "interrupted"; }

std::string date_of(const SessionEntry& entry) { return core::base_name(core::parent_path(entry.path)); }

core::Status add_session(duckdb::Appender& rows, const SessionEntry& entry) {
  const trace::SessionManifest& manifest = entry.manifest;
  const core::Json document = to_json(manifest);
  rows.text(manifest.id.text).text(date_of(entry)).text(manifest.state).text(manifest.kind).text(manifest.tag);
  std::string created = core::iso8601_utc(manifest.created_realtime_ns);
  rows.text(created.substr(0, created.size() - 1)).text(manifest.tool_version).text(core::to_string(manifest.home_clock));
  rows.text(manifest.fingerprint);
  for (const char* member : {"command", "request", "outcome", "warnings", "accounts"}) rows.text(document[member].dump(-1));
  return rows.text(entry.path).end_row();
}

core::Status add_metrics(duckdb::Appender& rows, const SessionEntry& entry, const std::string& file) {
  AACO_ASSIGN(const core::Json document, core::read_json_file(file));
  AACO_ASSIGN(const trace::Metrics metrics, trace::metrics_from_json(document["metrics"]));
  for (const trace::MetricValue& metric : metrics) {
    rows.text(entry.manifest.id.text).text(date_of(entry)).text(metric.id).real(metric.value).text(metric.unit);
    if (metric.ci95)
      rows.real(metric.ci95->low).real(metric.ci95->high);
    else
      rows.null().null();
    if (metric.device)
      rows.integer(*metric.device);
    else
      rows.null();
    AACO_TRY(rows.end_row());
  }
  return {};
}

// Whether a whole session has the file. The first that has it ends the search.
bool any_session_has(const std::string& root, std::string_view path) {
  const auto days = core::list_directory(root).value_or(std::vector<std::string>());
  return std::any_of(days.begin(), days.end(), [&](const std::string& day) {
    if (!store::is_date(day)) return false;
    const std::string folder = join_path(root, day);
    const auto ids = core::list_directory(folder).value_or(std::vector<std::string>());
    return std::any_of(ids.begin(), ids.end(), [&](const std::string& id) {
      return !id.starts_with('.') && core::exists(join_path(join_path(folder, id), path));
    });
  });
}

}  // namespace

core::Status Catalog::prepare_for(const std::string& sql) {
  // A name that occurs in the text without being meant costs a look into the folder, no more.
  const std::string text = core::to_lower(sql);
  const auto says = [&text](std::string_view word) { return text.find(word) != std::string::npos; };
  const bool all = says("show") || says("information_schema") || says("duckdb_");
  for (const ViewTable& table : view_tables())
    if (all || says(table.name)) AACO_TRY(refresh_view(table));
  if (all || says("sessions")) AACO_TRY(refresh_sessions());
  if (all || says("metrics")) AACO_TRY(refresh_metrics());
  return {};
}

core::Status Catalog::refresh_view(const ViewTable& table) {
  const std::string name(table.name);
  const bool present = any_session_has(root_, table.path);
  if (present && shown_.contains(name)) return {};  // a glob finds new files by itself
  AACO_TRY(connection_.run(view_statement(table, root_, present)));
  if (present)
    shown_.insert(name);
  else
    shown_.erase(name);
  return {};
}

core::Status Catalog::refresh_sessions() {
  AACO_ASSIGN(const auto entries, list_());
  AACO_TRY(connection_.run(std::string(kSessionsTable)));
  AACO_ASSIGN(auto rows, duckdb::Appender::open(connection_, "sessions"));
  for (const SessionEntry& entry : entries) AACO_TRY(add_session(rows, entry));
  return rows.close();
}

core::Status Catalog::refresh_metrics() {
  AACO_ASSIGN(const auto entries, list_());
  AACO_TRY(connection_.run(std::string(kMetricsTable)));
  std::set<std::string> present;
  for (const SessionEntry& entry : entries)
    if (is_whole(entry)) present.insert(entry.path);
  if (!std::includes(present.begin(), present.end(), metrics_.begin(), metrics_.end())) {  // some were removed: begin again
    AACO_TRY(connection_.run("DELETE FROM metrics"));
    metrics_.clear();
  }
  AACO_ASSIGN(auto rows, duckdb::Appender::open(connection_, "metrics"));
  for (const SessionEntry& entry : entries) {
    if (!is_whole(entry) || metrics_.contains(entry.path)) continue;
    for (const std::string_view file : kMetricFiles) {
      const std::string path = join_path(entry.path, file);
      if (core::exists(path)) AACO_TRY(add_metrics(rows, entry, path));
    }
    metrics_.insert(entry.path);
  }
  return rows.close();
}

}  // namespace aaco::tracelake::query
