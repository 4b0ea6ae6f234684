#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "core/files.h"
#include "core/random.h"
#include "tracelake/bundle.h"
#include "tracelake/store/open_session.h"
#include "tracelake/store/paths.h"

namespace aaco::tracelake {
namespace {

namespace fs = std::filesystem;
using core::ErrorCode;

tl::unexpected<core::Error> not_a_session(const std::string& path, std::string_view why) {
  return core::fail(ErrorCode::invalid_argument, path + " is not a session (" + std::string(why) + "); nothing was removed",
                    "`aaco ls` lists the sessions; remove other files manually");
}

// A folder is taken for a session by its place (<date>/<id>) and by a manifest that names it; a damaged manifest must at least be
// there.
core::Status check_is_session(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (!fs::exists(status)) return core::fail(ErrorCode::not_found, path + ": no such session");
  if (!fs::is_directory(status)) return not_a_session(path, "a link or a file");
  const std::string name = core::base_name(path);
  const bool open = !store::id_of_open_folder(name).empty();
  const std::string id = open ? std::string(store::id_of_open_folder(name)) : name;
  if (!store::check_session_id(id) || !store::is_date(core::base_name(core::parent_path(path))))
    return not_a_session(path, "not in a sessions folder");
  const std::string file = core::join_path(path, store::kManifestFile);
  if (open && !fs::exists(fs::symlink_status(file, error))) return {};  // killed before it wrote one
  if (!fs::is_regular_file(fs::symlink_status(file, error))) return not_a_session(path, "no session.json");
  const auto manifest = read_manifest(path);
  if (manifest && manifest->id.text != id) return not_a_session(path, "its session.json belongs to another session");
  return {};
}

// A link that points nowhere now goes to the newest session that is left, or away.
void renew_latest(const std::string& root) {
  const std::string link = core::join_path(root, store::kLatestLink);
  std::error_code error;
  if (!fs::is_symlink(link, error) || fs::exists(link, error)) return;
  const auto next = find_session(root, store::kLatestLink);
  if (next)
    store::point_latest_at(root, *next);
  else
    ::unlink(link.c_str());
}

}  // namespace

core::Status remove_session(const std::string& session_path) {
  std::string path = core::absolute_path(session_path);
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  AACO_TRY(check_is_session(path));
  if (store::lock_state(path) == store::LockState::held)
    return core::fail(ErrorCode::conflict, path + " is being written", "wait for the writing process, or stop it");
  // Out of sight in one step: a session is never seen half removed.
  const std::string day = core::parent_path(path);
  const std::string doomed = core::join_path(day, std::string(store::kRemovedPrefix) + std::to_string(core::system_entropy()));
  AACO_TRY(core::rename_path(path, doomed));
  AACO_TRY(core::remove_tree(doomed));
  ::rmdir(day.c_str());  // succeeds where it was the last of its day
  renew_latest(core::parent_path(day));
  return {};
}

}  // namespace aaco::tracelake
