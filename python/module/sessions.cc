#include <string>
#include <vector>

#include "python/module/bind.h"
#include "python/module/options.h"
#include "python/module/world.h"
#include "report/render.h"
#include "workflows/export.h"
#include "workflows/session_list.h"
#include "workflows/session_lists.h"
#include "workflows/session_report.h"
#include "workflows/store.h"

namespace aaco::python {
namespace {

namespace py = pybind11;
using core::Json;
using workflows::Services;

// session.json with the session's folder and metrics.
Json session_document(const workflows::SessionOutcome& session) {
  Json out = to_json(session.manifest);
  out.set("path", session.path);
  out.set("metrics", to_json(session.metrics));
  return out;
}

py::object open_session(const py::dict& world, const std::string& name) {
  return to_python(short_call(world, [&](const Services& services) -> core::Result<Json> {
    AACO_ASSIGN(const auto session, workflows::load_session(name, services.paths));
    return session_document(session);
  }));
}

py::object list_sessions(const py::dict& world, const py::dict& options) {
  workflows::SessionFilter filter;
  const Json given = to_json(options);
  OptionReader reader(given, "sessions()");
  std::optional<std::int64_t> limit;
  reader.text("tag", filter.tag);
  reader.text("kind", filter.kind);
  reader.text("state", filter.state);
  reader.text("search", filter.search);
  reader.integer("limit", limit, 1);
  value_or_raise(reader.finish());
  if (limit) filter.limit = static_cast<std::size_t>(*limit);
  return to_python(short_call(world, [&](const Services& services) -> core::Result<Json> {
    AACO_ASSIGN(const auto page, workflows::list_page(filter, services.paths));
    Json lines = Json::array();
    for (const auto& line : page.sessions) lines.push(workflows::to_json(line));
    return lines;
  }));
}

py::object session_report(const py::dict& world, const std::string& path) {
  return to_python(short_call(world, [&](const Services& services) -> core::Result<Json> {
    AACO_ASSIGN(const auto model, workflows::load_report(path, services.paths));
    return report::render_json(model);
  }));
}

std::string session_text(const py::dict& world, const std::string& path, int width) {
  return short_call(world, [&](const Services& services) -> core::Result<std::string> {
    AACO_ASSIGN(const auto model, workflows::load_report(path, services.paths));
    return report::render_text(model, {.width = width, .colour = false, .unicode = true, .brief = false});
  });
}

std::string session_page(const py::dict& world, const std::string& path) {
  return short_call(world, [&](const Services& services) -> core::Result<std::string> {
    AACO_ASSIGN(auto model, workflows::load_report(path, services.paths));
    AACO_TRY(workflows::add_page_parts(model, path));
    return workflows::render_page(model, services.paths);
  });
}

py::list verify_session(const py::dict& world, const std::string& path) {
  py::list out;
  for (const auto& line : short_call(world, [&](const Services& services) { return workflows::verify(path, services.paths); }))
    out.append(py::make_tuple(line.file, line.problem));
  return out;
}

std::string export_to(const py::dict& world, const std::string& path, const std::string& format, const std::string& output) {
  return long_call(world, [&](const Services& services) {
    return workflows::export_session({path, format, output}, services.paths);
  });
}

}  // namespace

void bind_sessions(py::module_& core) {
  core.def("open", &open_session);
  core.def("sessions", &list_sessions);
  core.def("report", &session_report);
  core.def("report_text", &session_text);
  core.def("report_page", &session_page);
  core.def("verify", &verify_session);
  core.def("export", &export_to);
  core.def("remove", [](const py::dict& world, const std::string& name) {
    return short_call(world, [&](const Services& services) { return workflows::remove(name, services.paths); });
  });
}

}  // namespace aaco::python
