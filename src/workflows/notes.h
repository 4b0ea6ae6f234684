#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/environment.h"
#include "core/json.h"
#include "core/result.h"

namespace aaco::workflows {

// What people wrote about a session, and tags besides the one it was measured with. Stored in <sessions>/.notes/ID.json, because
// a session itself never changes (docs/formats/notes.md).
struct SessionNotes {
  std::string text;
  std::vector<std::string> tags;
  std::string changed;  // ISO 8601, UTC; empty: never
  [[nodiscard]] bool empty() const { return text.empty() && tags.empty(); }
  bool operator==(const SessionNotes&) const = default;
};
inline constexpr std::size_t kMaxNoteBytes = 16 * 1024, kMaxNoteTags = 16, kMaxTagBytes = 64;

// Of a session by id; empty where nobody wrote any. Damaged files count as empty.
SessionNotes read_notes(const std::string& id, const core::Paths& paths);
// Of all sessions that have some, by id.
std::map<std::string, SessionNotes> all_notes(const std::string& sessions);
// Stores them with the time of now and returns them; empty ones remove the file. Tags are trimmed, sorted and listed once.
// Fails with invalid_argument for texts that are too long or have control characters, and for tags with spaces or commas.
core::Result<SessionNotes> write_notes(const std::string& id, SessionNotes notes, const core::Paths& paths);
void remove_notes(const std::string& id, const core::Paths& paths);

core::Json to_json(const SessionNotes& notes);

}  // namespace aaco::workflows
