#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/environment.h"
#include "core/result.h"
#include "workflows/session_outcome.h"

namespace aaco::workflows {

// A session as `aaco ls` shows it.
struct SessionLine {
  std::string id, path, created, kind, state, tag;
  std::string what;  // "resnet50, cpu, batch 1"
  std::optional<double> p50_ns;
  std::vector<std::string> tags = {};  // of its notes (workflows/notes.h)
  std::string note = {};
};

core::Result<std::vector<SessionLine>> list(const std::string& root);

// Who may read sessions to come under this root: "private" (their owner) or "group" (the root's group as well).
core::Status set_lake_mode(const std::string& mode, const core::Paths& paths);

// A session's manifest and metrics, by name.
core::Result<SessionOutcome> load_session(const std::string& name, const core::Paths& paths);

struct VerifyLine {
  std::string file;
  std::string problem;
};
// What differs from the recorded hashes; empty: intact.
core::Result<std::vector<VerifyLine>> verify(const std::string& name, const core::Paths& paths);

// Removes a session and answers its path.
core::Result<std::string> remove(const std::string& name, const core::Paths& paths);
// Packs into `file` (empty: ID.aaco in the current folder) and answers the file; unpack answers the session's new path.
core::Result<std::string> pack(const std::string& name, const std::string& file, const core::Paths& paths);
core::Result<std::string> unpack(const std::string& file, const core::Paths& paths);

struct RetentionRequest {
  std::optional<std::int64_t> older_than_ns;
  std::optional<std::int64_t> keep_bytes;
  bool keep_tagged = true;
  bool dry_run = false;
};
struct RetentionOutcome {
  std::vector<std::string> removed;   // id and reason, oldest first; with dry_run what would go
  std::vector<std::string> problems;  // sessions that should have gone and could not, and why
  std::int64_t freed_bytes = 0;
};
core::Result<RetentionOutcome> collect_garbage(const RetentionRequest& request, const core::Paths& paths);

}  // namespace aaco::workflows
