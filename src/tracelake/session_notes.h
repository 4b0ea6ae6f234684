#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace aaco::tracelake {

// What people wrote about a session, and tags besides the one it was measured with. Stored in <root>/.notes/ID.json, because a
// session itself never changes (docs/formats/notes.md).
struct SessionNotes {
  std::string text;
  std::vector<std::string> tags;
  std::string changed;  // ISO 8601, UTC; empty: never
  [[nodiscard]] bool empty() const { return text.empty() && tags.empty(); }
  bool operator==(const SessionNotes&) const = default;
};
inline constexpr std::size_t kMaxNoteBytes = 16 * 1024, kMaxNoteTags = 16, kMaxTagBytes = 64;

// Of a session by id; empty where nobody wrote any. Damaged files count as empty.
SessionNotes read_notes(const std::string& id, const std::string& root);
// Of all sessions that have some, by id.
std::map<std::string, SessionNotes> all_notes(const std::string& root);
// Stores them with the time of now and returns them; empty ones remove the file. Tags are trimmed, sorted and listed once.
// Fails with invalid_argument for texts that are too long or have control characters, and for tags that are none.
core::Result<SessionNotes> write_notes(const std::string& id, SessionNotes notes, const std::string& root);
void remove_notes(const std::string& id, const std::string& root);

// A tag has 1 to kMaxTagBytes bytes and no spaces, control characters, commas or slashes, whoever gives it.
bool is_tag(std::string_view tag);
// Fails with invalid_argument on anything else.
core::Status check_tag(const std::string& tag);

core::Json to_json(const SessionNotes& notes);

}  // namespace aaco::tracelake
