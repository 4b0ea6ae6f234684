#include "workflows/notes.h"

#include "core/files.h"
#include "core/strings.h"
#include "server/handlers.h"
#include "workflows/session_list.h"

namespace aaco::server {
namespace {

core::Result<std::string> noted_id(const Call& call, const Site& site) {
  AACO_ASSIGN(const std::string path, workflows::find_in_lake(call.path.at("session"), site.services.paths));
  return core::base_name(path);
}

Response notes_response(const std::string& id, const workflows::SessionNotes& notes) {
  return json_response(to_json(notes).set("session", id));
}

}  // namespace

core::Result<Response> get_notes(const Call& call, const Site& site) {
  AACO_ASSIGN(const std::string id, noted_id(call, site));
  return notes_response(id, workflows::read_notes(id, site.services.paths.sessions));
}

core::Result<Response> put_notes(const Call& call, const Site& site) {
  AACO_ASSIGN(const std::string id, noted_id(call, site));
  workflows::SessionNotes notes{.text = call.text("text"), .tags = call.all("tags"), .changed = {}};
  AACO_ASSIGN(const auto written, workflows::write_notes(id, std::move(notes), site.services.paths.sessions));
  return notes_response(id, written);
}

}  // namespace aaco::server
