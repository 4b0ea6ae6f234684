#include <algorithm>

#include "core/strings.h"
#include "report/render.h"
#include "server/handlers.h"
#include "workflows/explain.h"
#include "workflows/session_report.h"
#include "workflows/timeline_window.h"

// Parts of a session's report, for scripts that need one of them.
namespace aaco::server {
namespace {

using core::Json;

struct Rows {
  Json page = Json::array();
  std::size_t found = 0;
};

bool has_text(const Json& row, std::string_view member, const std::string& text) {
  return core::to_lower(row[member].text()).find(text) != std::string::npos;
}

// The rows from `offset` of those whose name or group (operator type, family) has the text of `search` in it; case is ignored.
Rows page_of(const Json& rows, const Call& call) {
  const auto offset = static_cast<std::size_t>(call.whole("offset").value_or(0));
  const auto limit = static_cast<std::size_t>(call.whole("limit").value_or(100));
  const std::string search = core::to_lower(call.text("search"));
  Rows out;
  for (const Json& row : rows.items()) {
    if (!has_text(row, "name", search) && !has_text(row, "group", search)) continue;
    if (out.found >= offset && out.found < offset + limit) out.page.push(row);
    ++out.found;
  }
  return out;
}

core::Result<Response> times_of(std::string_view part, const Call& call, const Site& site) {
  AACO_ASSIGN(const std::string path, session_path(call, site));
  AACO_ASSIGN(const auto model, workflows::load_report(path, site.services.paths));
  const Json report = report::render_json(model);
  Rows rows = page_of(report["time"][part], call);
  return json_response(Json::object({{"schema_version", 1},
                                     {"session", model.session.id.text},
                                     {"whole", report::to_string(model.time_whole)},
                                     {"found", rows.found},
                                     {"offset", call.whole("offset").value_or(0)},
                                     {std::string(part), std::move(rows.page)}}));
}

}  // namespace

core::Result<Response> get_session_bottleneck(const Call& call, const Site& site) {
  AACO_ASSIGN(const std::string path, session_path(call, site));
  AACO_ASSIGN(const auto explanation, workflows::explain(path, site.services));
  return json_response(workflows::to_json(explanation));
}

core::Result<Response> get_session_kernels(const Call& call, const Site& site) { return times_of("kernels", call, site); }
core::Result<Response> get_session_nodes(const Call& call, const Site& site) { return times_of("nodes", call, site); }

core::Result<Response> get_session_timeline(const Call& call, const Site& site) {
  AACO_ASSIGN(const std::string path, session_path(call, site));
  AACO_ASSIGN(const auto timeline,
              workflows::session_timeline(path, call.text("range"), call.whole("pixels").value_or(1000), site.services.paths));
  if (timeline.window.tracks.empty())
    return core::fail(core::ErrorCode::not_found, "this session has no trace in that range",
                      "imported traces and 'aaco record --profile' have one; iterations and nodes of a run are in its report");
  return json_response(workflows::to_json(timeline));
}

core::Result<Response> get_session_telemetry(const Call& call, const Site& site) {
  AACO_ASSIGN(const std::string path, session_path(call, site));
  AACO_ASSIGN(const auto model, workflows::load_report(path, site.services.paths));
  const std::vector<std::string> wanted = call.all("metric");
  const Json report = report::render_json(model);
  Json series = Json::array();
  for (const Json& one : report["telemetry"].items())
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), one["metric"].text()) != wanted.end()) series.push(one);
  return json_response(Json::object({{"schema_version", 1}, {"session", model.session.id.text}, {"series", std::move(series)}}));
}

}  // namespace aaco::server
