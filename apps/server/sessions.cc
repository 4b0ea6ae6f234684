#include "core/files.h"
#include "report/render.h"
#include "server/handlers.h"
#include "workflows/session_json.h"
#include "workflows/session_list.h"
#include "workflows/session_report.h"
#include "workflows/store.h"

namespace aaco::server {
namespace {

using core::Json;

core::Result<report::ReportModel> model_of(const Call& call, const Site& site) {
  AACO_ASSIGN(const std::string path, session_path(call, site));
  return workflows::load_report(path, site.services.paths);
}

}  // namespace

core::Result<std::string> session_path(const Call& call, const Site& site) {
  return workflows::find_in_lake(call.path.at("session"), site.services.paths);
}

core::Result<Response> get_sessions(const Call& call, const Site& site) {
  workflows::SessionFilter filter{call.text("tag"), call.text("kind"), call.text("state"), call.text("search")};
  filter.offset = static_cast<std::size_t>(call.whole("offset").value_or(0));
  filter.limit = static_cast<std::size_t>(call.whole("limit").value_or(100));
  AACO_ASSIGN(const auto page, site.lists != nullptr ? site.lists->page(filter, site.services.paths)
                                                     : workflows::list_page(filter, site.services.paths));
  Json sessions = Json::array();
  for (const auto& line : page.sessions) sessions.push(to_json(line));
  Json tags = Json::array();
  for (const auto& [tag, count] : page.tags) tags.push(Json::object({{"tag", tag}, {"count", count}}));
  return json_response(Json::object({{"schema_version", 1},
                                     {"root", site.services.paths.sessions},
                                     {"found", page.found},
                                     {"offset", filter.offset},
                                     {"sessions", std::move(sessions)},
                                     {"tags", std::move(tags)}}));
}

core::Result<Response> get_session(const Call& call, const Site& site) {
  AACO_ASSIGN(const std::string path, session_path(call, site));
  AACO_ASSIGN(const auto session, workflows::load_session(path, site.services.paths));
  return json_response(workflows::session_json(session));
}

core::Result<Response> get_session_metrics(const Call& call, const Site& site) {
  AACO_ASSIGN(const std::string path, session_path(call, site));
  AACO_ASSIGN(const auto session, workflows::load_session(path, site.services.paths));
  return json_response(
      Json::object({{"schema_version", 1}, {"session", session.manifest.id.text}, {"metrics", to_json(session.metrics)}}));
}

core::Result<Response> get_session_report(const Call& call, const Site& site) {
  AACO_ASSIGN(const auto model, model_of(call, site));
  return json_response(report::render_json(model));
}

core::Result<Response> get_session_page(const Call& call, const Site& site) {
  AACO_ASSIGN(const auto model, model_of(call, site));
  AACO_ASSIGN(std::string page, workflows::render_page(model, site.services.paths));
  return page_response(std::move(page));
}

core::Result<Response> get_dashboard(const Call&, const Site& site) {
  const std::string file = core::join_path(site.services.paths.share, "web/dashboard.html");
  auto page = core::read_file(file);
  if (!page)
    return core::fail(core::ErrorCode::unsupported, "this build does not include the dashboard page",
                      "run scripts/bootstrap.sh and build again; the API works without it");
  return page_response(std::move(*page));
}

}  // namespace aaco::server
