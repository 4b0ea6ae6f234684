#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/json.h"
#include "core/result.h"
#include "trace/session.h"
#include "trace/sink.h"

namespace aaco::tracelake {

// Writes one session. The bundle is written to a folder whose name starts with a dot and renamed when complete, so that a crash
// leaves either a complete session or one that `aaco ls` lists as incomplete. Several writers may share one root.
// It is the Sink of all measured rows; they are written to Parquet as DuckDB data chunks.
class BundleWriter {
 public:
  // Creates the open folder under `root` with an initial session.json in state "incomplete".
  static core::Result<std::unique_ptr<BundleWriter>> create(const std::string& root, const trace::SessionManifest& manifest);
  // Without a call of close() the open folder remains, marked incomplete.
  virtual ~BundleWriter() = default;

  [[nodiscard]] virtual const std::string& path() const = 0;  // of the open folder
  virtual trace::Sink& sink() = 0;
  // Adds a document or other file to the bundle, e.g. "runtime/ort_config.json".
  virtual core::Status write(std::string_view relative_path, std::string_view bytes) = 0;
  core::Status write_json(std::string_view relative_path, const core::Json& document) {
    return write(relative_path, document.dump() + "\n");
  }
  // Writes pending rows to Parquet, so that they are readable before close(); tables accept more rows afterwards.
  virtual core::Status flush() = 0;
  // Writes the tables, hashes every file, writes session.json with `manifest` (its hashes filled in) and renames the folder;
  // points sessions/latest at it. Returns the final path.
  virtual core::Result<std::string> close(trace::SessionManifest manifest) = 0;
};

// The writer of a session that is still open.
struct SessionWriter {
  std::int64_t process_id = 0;
  std::string host;
  bool alive = false;  // false: killed or crashed; the session stays incomplete
};

struct SessionEntry {
  std::string path;
  trace::SessionManifest manifest;
  std::optional<SessionWriter> writer = {};  // of an incomplete session
  std::vector<std::string> noted_tags = {};  // that people gave it afterwards (session_notes.h)

  [[nodiscard]] bool has_tag(std::string_view tag) const;  // of its measurement or noted
};

// Every session under a root, oldest first; incomplete ones too (state "incomplete"), damaged ones with a state "damaged: why".
core::Result<std::vector<SessionEntry>> list_sessions(const std::string& root);
// The same with what lists of sessions need of each manifest (store/session_index.h); fast, by <root>/.index, which is renewed
// where it is not what the sessions say. Lakes of few sessions have none.
core::Result<std::vector<SessionEntry>> list_session_heads(const std::string& root);
// The folder of a session, found by path, id (or a unique prefix), "latest" or "tag:NAME" (the newest with that tag, measured or
// noted).
core::Result<std::string> find_session(const std::string& root, std::string_view name);
core::Result<trace::SessionManifest> read_manifest(const std::string& session_path);

// Fails with invalid_input if a file listed by the session is missing. Fast: no file is read.
core::Status check_files_there(const std::string& session_path, const trace::SessionManifest& manifest);

// Lists session.json, documents (*.json) and tables that no longer match their hashes: facts may have been edited or damaged.
// Tables are hashed up to 64 MiB in total, beyond that only their form is checked; verify_session() reads everything.
std::vector<std::string> changed_documents(const std::string& session_path, const trace::SessionManifest& manifest);

struct VerifyFinding {
  std::string file;
  std::string problem;  // missing, changed, unexpected
};
// Compares every file with its recorded hash; no finding means that the session is unmodified. Files in
// report/ and regress/ are derived and may be added later. Refuses an incomplete session.
core::Result<std::vector<VerifyFinding>> verify_session(const std::string& session_path);

// Removes a session, complete or not. Refuses non-sessions and sessions with a live writer. Links are never followed.
core::Status remove_session(const std::string& session_path);

// Packs a complete session into one file (a zstd-compressed ustar archive, readable by tar), and unpacks it. Packing refuses a
// session that does not match its hashes. Unpacking verifies everything before renaming into place, and returns the new
// path.
core::Status pack_session(const std::string& session_path, const std::string& file);
core::Result<std::string> unpack_session(const std::string& file, const std::string& root);

// What `aaco gc` may remove: sessions older than max_age_ns, then the oldest until the total fits max_bytes, and incomplete ones
// without a live writer that are older than a day.
struct RetentionPolicy {
  std::optional<std::int64_t> max_age_ns;
  std::optional<std::int64_t> max_bytes;
  bool keep_tagged = false;           // also those with noted tags
  std::vector<std::string> keep_ids;  // e.g. baselines; kept regardless of tags
  bool dry_run = false;
};
struct RetentionAction {
  std::string path;
  std::int64_t bytes = 0;
  std::string reason;
  bool removed = false;
  std::string problem;  // why it could not be removed
};
core::Result<std::vector<RetentionAction>> apply_retention(const std::string& root, const RetentionPolicy& policy,
                                                           std::int64_t now_realtime_ns);

}  // namespace aaco::tracelake
