#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "core/files.h"
#include "tracelake/bundle.h"
#include "tracelake/session_notes.h"
#include "tracelake/store/open_session.h"
#include "tracelake/store/paths.h"
#include "tracelake/store/session_index.h"

namespace aaco::tracelake {
namespace {

using core::ErrorCode;
using core::join_path;

// The writer holds a lock on its open folder. Where the file system has no locks, its process must do.
bool writer_lives(const std::string& open_folder, const SessionWriter& writer) {
  const store::LockState lock = store::lock_state(open_folder);
  if (lock != store::LockState::unknown) return lock == store::LockState::held;
  return writer.host == store::host_name() && writer.process_id > 0 &&
         (::kill(static_cast<pid_t>(writer.process_id), 0) == 0 || errno == EPERM);
}

SessionWriter writer_from_json(const core::Json& document, const std::string& open_folder) {
  SessionWriter writer{document["process_id"].as_i64().value_or(0), std::string(document["host"].text()), false};
  writer.alive = writer_lives(open_folder, writer);
  return writer;
}

// When the folder was last changed, for a session that does not say when it was made.
std::int64_t changed_ns(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return 0;
  return static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
}

// A writer that was killed at once has left an open folder without a manifest.
SessionEntry read_entry(const std::string& path, const std::string& id, bool open) {
  SessionEntry entry;
  entry.path = path;
  const auto document = core::read_json_file(join_path(path, store::kManifestFile));
  auto manifest = document ? trace::session_from_json(*document) : tl::unexpected<core::Error>(document.error());
  if (manifest) {
    entry.manifest = *std::move(manifest);
  } else {
    entry.manifest.id.text = id;
    entry.manifest.created_realtime_ns = changed_ns(path);
    entry.manifest.state = "damaged: " + manifest.error().message;
  }
  if (open) {
    entry.manifest.state = "incomplete";
    entry.writer = writer_from_json(document ? (*document)["writer"] : core::Json(), path);
  }
  return entry;
}

struct FoundFolder {
  std::string path;
  std::string id;
  bool open = false;
};

// Calls `visit` with every folder under a root that is, or will be, a session.
template <class Visit>
core::Status visit_folders(const std::string& root, Visit visit) {
  if (!core::exists(root)) return {};
  AACO_ASSIGN(const auto days, core::list_directory(root));
  for (const std::string& day : days) {
    if (!store::is_date(day)) continue;
    const std::string folder = join_path(root, day);
    AACO_ASSIGN(const auto names, core::list_directory(folder));
    for (const std::string& name : names) {
      const std::string_view open_id = store::id_of_open_folder(name);
      if (open_id.empty() && name.starts_with('.')) continue;
      visit(day, FoundFolder{join_path(folder, name), open_id.empty() ? name : std::string(open_id), !open_id.empty()});
    }
  }
  return {};
}

// By the nanosecond: ids know the second only, and 'the newest with this tag' may be one of two of the same second.
void sort_by_time(std::vector<SessionEntry>& entries) {
  const auto when = [](const SessionEntry& entry) {
    return std::tie(entry.manifest.created_realtime_ns, entry.manifest.id.text);
  };
  std::sort(entries.begin(), entries.end(), [&](const SessionEntry& a, const SessionEntry& b) { return when(a) < when(b); });
}

void add_noted_tags(std::vector<SessionEntry>& entries, const std::string& root) {
  auto notes = all_notes(root);
  if (notes.empty()) return;
  for (SessionEntry& entry : entries)
    if (const auto noted = notes.find(entry.manifest.id.text); noted != notes.end())
      entry.noted_tags = std::move(noted->second.tags);
}

// Entries by the index where it knows the folder's manifest, else by the manifest.
class IndexedListing {
 public:
  explicit IndexedListing(const std::string& root) : root_(root), known_(store::read_index(root)) {}

  void visit(const std::string& day, const FoundFolder& found) {
    store::FileIdentity identity;
    const bool closed = !found.open && store::identify(join_path(found.path, store::kManifestFile), identity);
    if (!closed) {
      if (found.open || core::is_directory(found.path)) entries_.push_back(read_entry(found.path, found.id, found.open));
      return;
    }
    const std::string key = join_path(day, core::base_name(found.path));
    if (const auto one = known_.find(key); one != known_.end() && one->second.identity == identity) {
      entries_.push_back({found.path, one->second.head});
      used_.push_back(key);
      return;
    }
    SessionEntry entry = read_entry(found.path, found.id, false);
    entry.manifest = entry.manifest.whole() ? store::head_of(entry.manifest) : std::move(entry.manifest);
    if (entry.manifest.whole()) fresh_.insert_or_assign(key, store::IndexedSession{identity, entry.manifest});
    entries_.push_back(std::move(entry));
  }

  std::vector<SessionEntry> finish() {
    if ((!fresh_.empty() || used_.size() != known_.size()) && entries_.size() >= kFewestIndexed) renew();
    sort_by_time(entries_);
    add_noted_tags(entries_, root_);
    return std::move(entries_);
  }

 private:
  void renew() {
    for (const std::string& key : used_) fresh_.insert(known_.extract(key));
    store::write_index(root_, fresh_);
  }

  static constexpr std::size_t kFewestIndexed = 64;
  std::string root_;
  store::SessionIndex known_, fresh_;
  std::vector<SessionEntry> entries_;
  std::vector<std::string> used_;
};

}  // namespace

bool SessionEntry::has_tag(std::string_view tag) const {
  return manifest.tag == tag || std::find(noted_tags.begin(), noted_tags.end(), tag) != noted_tags.end();
}

core::Result<std::vector<SessionEntry>> list_sessions(const std::string& root) {
  std::vector<SessionEntry> entries;
  AACO_TRY(visit_folders(root, [&](const std::string&, const FoundFolder& found) {
    if (found.open || core::is_directory(found.path)) entries.push_back(read_entry(found.path, found.id, found.open));
  }));
  sort_by_time(entries);
  add_noted_tags(entries, root);
  return entries;
}

core::Result<std::vector<SessionEntry>> list_session_heads(const std::string& root) {
  IndexedListing listing(root);
  AACO_TRY(visit_folders(root, [&](const std::string& day, const FoundFolder& found) { listing.visit(day, found); }));
  return listing.finish();
}

core::Result<trace::SessionManifest> read_manifest(const std::string& session_path) {
  const std::string file = join_path(session_path, store::kManifestFile);
  AACO_ASSIGN(const core::Json document, core::read_json_file(file));
  auto manifest = trace::session_from_json(document);
  if (!manifest) return tl::unexpected<core::Error>(std::move(manifest).error().with(file));
  return manifest;
}

}  // namespace aaco::tracelake
