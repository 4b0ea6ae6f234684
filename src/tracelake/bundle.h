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

// Writes one session. The bundle grows in a folder whose name begins with a dot and is renamed when complete, so that a crash
// leaves either a whole session or one that `aaco ls` shows as incomplete. Several writers may work in one root at once.
// It is the Sink of everything measured; rows go to Parquet by DuckDB data chunks.
class BundleWriter {
 public:
  // Makes the open folder under `root` and a first session.json in state "incomplete".
  static core::Result<std::unique_ptr<BundleWriter>> create(const std::string& root, const trace::SessionManifest& manifest);
  // Leaves the open folder as it is (marked incomplete) where close() was never called.
  virtual ~BundleWriter() = default;

  [[nodiscard]] virtual const std::string& path() const = 0;  // of the open folder
  virtual trace::Sink& sink() = 0;
  // A document or other file at its place in the bundle, e.g. "runtime/ort_config.json".
  virtual core::Status write(std::string_view relative_path, std::string_view bytes) = 0;
  core::Status write_json(std::string_view relative_path, const core::Json& document) {
    return write(relative_path, document.dump() + "\n");
  }
  // Writes the tables that are pending to Parquet (so that they can be read before the end); tables stay open for more.
  virtual core::Status flush() = 0;
  // Writes the tables, hashes every file, writes session.json with `manifest` (its hashes filled in) and renames the folder;
  // points sessions/latest at it. Answers the final path.
  virtual core::Result<std::string> close(trace::SessionManifest manifest) = 0;
};

// Who writes a session that is still open.
struct SessionWriter {
  std::int64_t process_id = 0;
  std::string host;
  bool alive = false;  // false: it was killed or crashed, and the session stays incomplete
};

struct SessionEntry {
  std::string path;
  trace::SessionManifest manifest;
  std::optional<SessionWriter> writer;  // of an incomplete session
};

// Every session under a root, oldest first; incomplete ones too (state "incomplete"), damaged ones with a state "damaged: why".
core::Result<std::vector<SessionEntry>> list_sessions(const std::string& root);
// The folder a session is in: by path, id (or a unique beginning of one), "latest" or "tag:NAME" (the newest with it).
core::Result<std::string> find_session(const std::string& root, std::string_view name);
core::Result<trace::SessionManifest> read_manifest(const std::string& session_path);

// Fails with invalid_input where a file is gone that the session lists: part of its evidence. Quick: nothing is read.
core::Status check_files_there(const std::string& session_path, const trace::SessionManifest& manifest);

// Of session.json and the documents (*.json) that its hashes list, those that are not what was written: numbers and facts that
// a hand may have changed. Tables are left to verify_session(), which reads all.
std::vector<std::string> changed_documents(const std::string& session_path, const trace::SessionManifest& manifest);

struct VerifyFinding {
  std::string file;
  std::string problem;  // missing, changed, unexpected
};
// Compares every file with the recorded hashes; no finding means that the evidence is what was written. What lies in
// report/ and regress/ is made from the evidence and may come later. Refuses an incomplete session.
core::Result<std::vector<VerifyFinding>> verify_session(const std::string& session_path);

// Removes a session, complete or not. Refuses what is no session, and one whose writer lives. Links are never followed.
core::Status remove_session(const std::string& session_path);

// One compressed file of a whole session (a ustar archive in zstd, so that tar can read it too), and back. Packing refuses a
// session that differs from its hashes. Unpacking trusts nothing: it verifies before it renames into place, and answers the new
// path.
core::Status pack_session(const std::string& session_path, const std::string& file);
core::Result<std::string> unpack_session(const std::string& file, const std::string& root);

// What `aaco gc` may remove: sessions older than max_age_ns, then the oldest until the rest fits max_bytes, and incomplete ones
// without a living writer that are older than a day.
struct RetentionPolicy {
  std::optional<std::int64_t> max_age_ns;
  std::optional<std::int64_t> max_bytes;
  bool keep_tagged = false;
  std::vector<std::string> keep_ids;  // baselines and the like, with whatever tag
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
