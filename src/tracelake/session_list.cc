#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>

#include "core/files.h"
#include "core/handles.h"
#include "core/strings.h"
#include "tracelake/bundle.h"
#include "tracelake/store/paths.h"

namespace aaco::tracelake {
namespace {

using core::ErrorCode;
using core::join_path;

// The writer holds a lock on its open folder. Where the file system has no locks, its process must do.
bool writer_lives(const std::string& open_folder, const SessionWriter& writer) {
  const core::FileDescriptor folder(::open(open_folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid()) {
    if (::flock(folder.get(), LOCK_SH | LOCK_NB) == 0) return false;
    if (errno == EWOULDBLOCK) return true;
  }
  return writer.host == store::host_name() && writer.process_id > 0 &&
         (::kill(static_cast<pid_t>(writer.process_id), 0) == 0 || errno == EPERM);
}

SessionEntry damaged(std::string path, std::string id, const std::string& why) {
  SessionEntry entry;
  entry.path = std::move(path);
  entry.manifest.id.text = std::move(id);
  entry.manifest.state = "damaged: " + why;
  return entry;
}

SessionEntry read_entry(const std::string& path, const std::string& id, bool open) {
  auto document = core::read_json_file(join_path(path, store::kManifestFile));
  if (!document) return damaged(path, id, document.error().message);
  auto manifest = trace::session_from_json(*document);
  if (!manifest) return damaged(path, id, manifest.error().message);
  SessionEntry entry{path, *std::move(manifest), {}};
  if (!open) return entry;
  entry.manifest.state = "incomplete";
  const core::Json& writer = (*document)["writer"];
  entry.writer.emplace();
  entry.writer->process_id = writer["process_id"].as_i64().value_or(0);
  entry.writer->host = writer["host"].text();
  entry.writer->alive = writer_lives(path, *entry.writer);
  return entry;
}

}  // namespace

core::Result<std::vector<SessionEntry>> list_sessions(const std::string& root) {
  std::vector<SessionEntry> entries;
  if (!core::exists(root)) return entries;
  AACO_ASSIGN(const auto days, core::list_directory(root));
  for (const std::string& day : days) {
    if (!store::is_date(day)) continue;
    const std::string folder = join_path(root, day);
    AACO_ASSIGN(const auto names, core::list_directory(folder));
    for (const std::string& name : names) {
      const std::string path = join_path(folder, name);
      const std::string_view open_id = store::id_of_open_folder(name);
      if (open_id.empty() && (name.starts_with('.') || !core::is_directory(path))) continue;
      entries.push_back(read_entry(path, open_id.empty() ? name : std::string(open_id), !open_id.empty()));
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const SessionEntry& a, const SessionEntry& b) { return a.manifest.id < b.manifest.id; });
  return entries;
}

core::Result<trace::SessionManifest> read_manifest(const std::string& session_path) {
  const std::string file = join_path(session_path, store::kManifestFile);
  AACO_ASSIGN(const core::Json document, core::read_json_file(file));
  auto manifest = trace::session_from_json(document);
  if (!manifest) return tl::unexpected<core::Error>(std::move(manifest).error().with(file));
  return manifest;
}

}  // namespace aaco::tracelake
