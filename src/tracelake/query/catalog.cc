#include "tracelake/query/catalog.h"

#include <fmt/format.h>

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
constexpr std::string_view kMetricColumns =
    "session_id VARCHAR, date DATE, metric VARCHAR, value DOUBLE, unit VARCHAR, ci95_low DOUBLE, ci95_high DOUBLE, device BIGINT";
constexpr std::string_view kTotalColumns =
    "session_id VARCHAR, date DATE, domain VARCHAR, name VARCHAR, family VARCHAR, library VARCHAR, count BIGINT, sum_ns BIGINT, "
    "min_ns BIGINT, max_ns BIGINT";
constexpr std::string_view kEnvironmentColumns = "session_id VARCHAR, date DATE, name VARCHAR, value VARCHAR";
constexpr std::string_view kEnvironmentFile = "env.json";
constexpr int kMaxEnvironmentDepth = 16;
constexpr std::string_view kTotalsFile = "profiler/kernel_summary.json";
constexpr std::array<std::string_view, 2> kMetricFiles = {"metrics/inference_summary.json", "metrics/derived_metrics.json"};

std::string date_of(const SessionEntry& entry) { return core::base_name(core::parent_path(entry.path)); }

// To the microsecond, all that TIMESTAMP stores: sessions of the same second keep their order.
std::string created_text(std::int64_t realtime_ns) {
  const std::string seconds = core::iso8601_utc(realtime_ns);
  return fmt::format("{}.{:06}", seconds.substr(0, seconds.size() - 1), realtime_ns % 1'000'000'000 / 1'000);
}

core::Status add_session(duckdb::Appender& rows, const SessionEntry& entry) {
  const trace::SessionManifest& manifest = entry.manifest;
  const core::Json document = to_json(manifest);
  rows.text(manifest.id.text).text(date_of(entry)).text(manifest.state).text(manifest.kind).text(manifest.tag);
  rows.text(created_text(manifest.created_realtime_ns)).text(manifest.tool_version).text(core::to_string(manifest.home_clock));
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

// What a profiler wrote in place of events: kernels by name, and calls, whose domain the file says.
core::Status add_totals(duckdb::Appender& rows, const SessionEntry& entry, const std::string& file) {
  AACO_ASSIGN(const core::Json document, core::read_json_file(file));
  const auto integer = [&rows](const core::Json& value) {
    if (const auto number = value.as_i64())
      rows.integer(*number);
    else
      rows.null();
  };
  const auto words = [&rows](const core::Json& value) {
    if (value.is_string())
      rows.text(value.text());
    else
      rows.null();
  };
  for (const char* list : {"kernels", "calls"})
    for (const core::Json& total : document[list].items()) {
      rows.text(entry.manifest.id.text).text(date_of(entry));
      rows.text(total["domain"].is_string() ? total["domain"].text() : "kernel").text(total["name"].text());
      words(total["family"]);
      words(total["library"]);
      for (const char* number : {"count", "sum_ns", "min_ns", "max_ns"}) integer(total[number]);
      AACO_TRY(rows.end_row());
    }
  return {};
}

// Whether a whole session has the file. The first that has it ends the search.
// One row per value of the environment record, named by its path: "os.host", "cpu.flags[3]".
core::Status add_environment(duckdb::Appender& rows, const SessionEntry& entry, const core::Json& value, const std::string& name,
                             int depth) {
  if (value.is_null() || depth > kMaxEnvironmentDepth) return {};
  if (value.is_object()) {
    for (const auto& [member, of] : value.members())
      AACO_TRY(add_environment(rows, entry, of, name.empty() ? member : name + "." + member, depth + 1));
    return {};
  }
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.items().size(); ++i)
      AACO_TRY(add_environment(rows, entry, value.items()[i], fmt::format("{}[{}]", name, i), depth + 1));
    return {};
  }
  rows.text(entry.manifest.id.text)
      .text(date_of(entry))
      .text(name)
      .text(value.is_string() ? std::string(value.text()) : value.dump(-1));
  return rows.end_row();
}

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
  if (all || says("kernel_totals")) AACO_TRY(refresh_totals());
  if (all || says("environment")) AACO_TRY(refresh_environment());
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

core::Status Catalog::refresh_rows(const std::string& table, std::string_view columns, std::set<std::string>& done,
                                   const std::function<core::Status(duckdb::Appender&, const SessionEntry&)>& add) {
  AACO_ASSIGN(const auto entries, list_());
  AACO_TRY(connection_.run("CREATE TABLE IF NOT EXISTS " + table + " (" + std::string(columns) + ")"));
  std::set<std::string> present;
  for (const SessionEntry& entry : entries)
    if (entry.manifest.whole()) present.insert(entry.path);
  if (!std::includes(present.begin(), present.end(), done.begin(), done.end())) {  // some were removed: begin again
    AACO_TRY(connection_.run("DELETE FROM " + table));
    done.clear();
  }
  AACO_ASSIGN(auto rows, duckdb::Appender::open(connection_, table));
  for (const SessionEntry& entry : entries) {
    if (!entry.manifest.whole() || done.contains(entry.path)) continue;
    AACO_TRY(add(rows, entry));
    done.insert(entry.path);
  }
  return rows.close();
}

core::Status Catalog::refresh_metrics() {
  return refresh_rows("metrics", kMetricColumns, metrics_, [](duckdb::Appender& rows, const SessionEntry& entry) -> core::Status {
    for (const std::string_view file : kMetricFiles) {
      const std::string path = join_path(entry.path, file);
      if (core::exists(path)) AACO_TRY(add_metrics(rows, entry, path));
    }
    return {};
  });
}

core::Status Catalog::refresh_totals() {
  return refresh_rows("kernel_totals", kTotalColumns, totals_, [](duckdb::Appender& rows, const SessionEntry& entry) {
    const std::string path = join_path(entry.path, kTotalsFile);
    return core::exists(path) ? add_totals(rows, entry, path) : core::Status();
  });
}

core::Status Catalog::refresh_environment() {
  return refresh_rows("environment", kEnvironmentColumns, environments_,
                      [](duckdb::Appender& rows, const SessionEntry& entry) -> core::Status {
                        const std::string path = join_path(entry.path, kEnvironmentFile);
                        if (!core::exists(path)) return {};
                        AACO_ASSIGN(const core::Json document, core::read_json_file(path));
                        return add_environment(rows, entry, document, "", 0);
                      });
}

}  // namespace aaco::tracelake::query
