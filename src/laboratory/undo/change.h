#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "laboratory/undo.h"

namespace aaco::laboratory::undo {

// One noted change. Paths are whole ones, the root included.
struct Change {
  enum class Kind : std::uint8_t { file, group } kind = Kind::file;
  std::string path;          // of the file or of the group's folder
  std::string before, made;  // a file's values
  std::string home;          // a group's processes go there
};

core::Json to_json(const Change& change);
// invalid_input on what is no change, and on one that leads outside the root's /sys and /proc/sys or that names a group which is
// not AACO's: a journal is never a way to write elsewhere.
core::Result<Change> change_from_json(const core::Json& document, const World& world);
std::string to_text(const Change& change);

// Whether there was something to undo. A change that was noted and never made is none.
core::Result<bool> undo(const Change& change);

// "aaco-": every group's name begins so.
inline constexpr std::string_view kGroupPrefix = "aaco-";

inline constexpr std::string_view kEnding = ".journal";  // of a journal's file

struct Owner {
  std::int64_t process_id = 0;
  std::int64_t start_ticks = 0;  // since boot
  std::string boot_id;
  bool operator==(const Owner&) const = default;
};
// The process `process_id` below the root; start_ticks is -1 where there is none.
Owner owner_of(const World& world, std::int64_t process_id);

// A journal as it lies on disk. A last line that was cut was never followed by its change.
struct Noted {
  Owner owner;
  std::string purpose;
  std::vector<Change> changes;
  std::vector<std::string> damaged;  // lines that are no changes
};
core::Result<Noted> read_journal(const std::string& path, const World& world);

}  // namespace aaco::laboratory::undo
