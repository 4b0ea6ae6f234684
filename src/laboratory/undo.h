#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/handles.h"
#include "core/result.h"

// Changes to the machine that must not outlive whoever made them. Each is on disk, synced, before it is made; what a killed owner
// left behind is undone by the next one that looks.
namespace aaco::laboratory::undo {

struct World {
  std::string root = "/";  // of /proc and /sys
  std::string folder;      // where journals lie: one file an owner
};

// A file of a control group and what is written into it.
struct Setting {
  std::string file, value;
};

// The value a control file stands at: the word in brackets of "always [madvise] never", else the trimmed text.
std::string value_in(std::string_view text);
// One write to a control file; it is never made.
core::Status write_control(const std::string& path, const std::string& text);

// The changes of this process. They are undone, last first, by restore(), at the latest at the end of the owner's life. Not for
// use by two threads at once.
class Journal {
 public:
  // Nothing is written before the first change. `purpose` is for people.
  static core::Result<Journal> open(World world, std::string purpose);
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  // Sets a control file ("/sys/...", below the root) and answers what it was. It stays as it is where it has that value already.
  // conflict where another live owner holds settings of the machine; unsupported or permission where it cannot be set or the
  // kernel kept another value.
  core::Result<std::string> set_file(const std::string& path, const std::string& value);
  // Makes the control group `name` below the group `parent`, gives it the settings, and answers its folder. At the end every
  // process in it goes to the group `home`. Both are paths below the root.
  core::Result<std::string> make_group(const std::string& parent, const std::string& home, const std::string& name,
                                       const std::vector<Setting>& settings);
  // Undoes everything. What could not be undone stays in the journal for the next owner, and is the error.
  core::Status restore();

 private:
  Journal(World world, std::string purpose) : world_(std::move(world)), purpose_(std::move(purpose)) {}
  core::Status note(const std::string& line);
  core::Status begin();
  core::Status lock_machine();

  World world_;
  std::string purpose_, path_;
  core::FileDescriptor file_, machine_lock_;
};

struct Restored {
  std::int64_t undone = 0;         // changes
  std::vector<std::string> texts;  // one a change: what was done
  std::vector<std::string> left;   // what could not be undone, with the reason; it is tried again next time
};
// Undoes what owners left behind that are gone (by process number and start time); changes from before the last boot are gone by
// themselves. A value that somebody else changed since is left alone. Journals of other users are not looked at.
core::Result<Restored> restore_dead(const World& world);

struct OpenChange {
  std::int64_t process_id = 0;
  std::string purpose;
  bool alive = false;
  std::string text;  // "/sys/... is performance, was powersave"
};
// Every change that is noted and not undone.
core::Result<std::vector<OpenChange>> list(const World& world);

}  // namespace aaco::laboratory::undo
