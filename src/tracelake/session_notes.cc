#include "tracelake/session_notes.h"

#include <algorithm>

#include "core/clock.h"
#include "core/files.h"
#include "core/strings.h"

namespace aaco::tracelake {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::int64_t kMaxNotesFile = 256 * 1024;

std::string notes_folder(const std::string& root) { return core::join_path(root, ".notes"); }
std::string notes_file(const std::string& id, const std::string& root) {
  return core::join_path(notes_folder(root), id + ".json");
}

bool is_control_character(unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }

SessionNotes notes_of_file(const std::string& file) {
  SessionNotes notes;
  const auto text = core::read_file(file, kMaxNotesFile);
  const auto document = text ? Json::parse(*text) : tl::unexpected<core::Error>(text.error());
  if (!document || !document->is_object()) return notes;
  notes.text = (*document)["text"].text();
  notes.changed = (*document)["changed"].text();
  for (const Json& tag : (*document)["tags"].items())
    if (is_tag(std::string(tag.text())) && notes.tags.size() < kMaxNoteTags) notes.tags.emplace_back(tag.text());
  return notes;
}

core::Status check_notes(SessionNotes& notes) {
  const auto invalid = [](std::string message) { return core::fail(core::ErrorCode::invalid_argument, std::move(message)); };
  if (notes.text.size() > kMaxNoteBytes)
    return invalid("the note is longer than " + std::to_string(kMaxNoteBytes / 1024) + " KiB");
  if (std::any_of(notes.text.begin(), notes.text.end(), is_control_character))
    return invalid("the note contains control characters");
  for (std::string& tag : notes.tags) {
    tag = std::string(core::trim(tag));
    AACO_TRY(check_tag(tag));
  }
  std::sort(notes.tags.begin(), notes.tags.end());
  notes.tags.erase(std::unique(notes.tags.begin(), notes.tags.end()), notes.tags.end());
  if (notes.tags.size() > kMaxNoteTags) return invalid("more than " + std::to_string(kMaxNoteTags) + " tags");
  return {};
}

}  // namespace

bool is_tag(std::string_view tag) {
  return !tag.empty() && tag.size() <= kMaxTagBytes && std::none_of(tag.begin(), tag.end(), [](unsigned char c) {
    return c <= 0x20 || c == 0x7f || c == ',' || c == '/' || c == '\\';
  });
}

core::Status check_tag(const std::string& tag) {
  if (is_tag(tag)) return {};
  constexpr std::size_t kShown = 40;
  return core::fail(ErrorCode::invalid_argument, "invalid tag '" + tag.substr(0, kShown) + (tag.size() > kShown ? "..." : "") +
                                                     "': expected up to " + std::to_string(kMaxTagBytes) +
                                                     " characters without spaces, commas and slashes");
}

SessionNotes read_notes(const std::string& id, const std::string& root) { return notes_of_file(notes_file(id, root)); }

std::map<std::string, SessionNotes> all_notes(const std::string& root) {
  std::map<std::string, SessionNotes> all;
  for (const std::string& name : core::list_directory(notes_folder(root)).value_or(std::vector<std::string>()))
    if (name.ends_with(".json") && !name.starts_with('.'))
      all[name.substr(0, name.size() - 5)] = notes_of_file(core::join_path(notes_folder(root), name));
  return all;
}

core::Result<SessionNotes> write_notes(const std::string& id, SessionNotes notes, const std::string& root) {
  notes.text = std::string(core::trim(notes.text));
  AACO_TRY(check_notes(notes));
  notes.changed = core::iso8601_utc(core::SystemClock().now_ns(core::ClockId::realtime));
  if (notes.empty()) {
    remove_notes(id, root);
    return notes;
  }
  AACO_TRY(core::make_directories(notes_folder(root)));
  AACO_TRY(core::write_file_atomic(notes_file(id, root), to_json(notes).set("session", id).dump() + "\n"));
  return notes;
}

void remove_notes(const std::string& id, const std::string& root) {
  const std::string file = notes_file(id, root);
  if (core::exists(file)) (void)core::remove_tree(file);
}

Json to_json(const SessionNotes& notes) {
  return Json::object({{"schema_version", 1},
                       {"text", notes.text},
                       {"tags", Json::texts(notes.tags)},
                       {"changed", notes.changed.empty() ? Json() : Json(notes.changed)}});
}

}  // namespace aaco::tracelake
