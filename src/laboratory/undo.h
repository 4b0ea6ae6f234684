#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/handles.h"
#include "core/result.h"

// Machine changes that must not outlive their owner. Each is recorded on disk and synced before it is made; changes of a killed
// owner are undone by the next run that checks.
namespace aaco::laboratory::undo {

struct World {
  std::string root = "/";  // of /proc and /sys
  std::string folder;      // the folder of the journals: one file per owner
};

// A cgroup file and the value to write to it.
struct Setting {
  std::string file, value;
};

// The current value of a control file: the word in brackets of "always [madvise] never", else the trimmed text.
std::string value_in(std::string_view text);
// A single write to a control file; the file is never created.
core::Status write_control(const std::string& path, const std::string& text);

// The changes of this process. restore() undoes them, last first; so does the destructor. Not
// thread-safe.
class Journal {
 public:
  // Nothing is written before the first change. `purpose` is for display.
  static core::Result<Journal> open(World world, std::string purpose);
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  // Sets a control file ("/sys/...", below the root) and returns its previous value. No-op if it already has that value.
  // conflict if another live owner has changed machine settings; unsupported or permission if it cannot be set or the
  // kernel keeps another value.
  core::Result<std::string> set_file(const std::string& path, const std::string& value);
  // Creates the cgroup `name` below `parent`, applies the settings, and returns its folder. On restore every
  // process in it moves to the cgroup `home`. Both are paths below the root.
  core::Result<std::string> make_group(const std::string& parent, const std::string& home, const std::string& name,
                                       const std::vector<Setting>& settings);
  // Undoes everything. Failed changes stay in the journal for the next owner and are reported as the error.
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
  std::vector<std::string> texts;  // one per change: what was done
  std::vector<std::string> left;   // changes that could not be undone, with the reason; retried next time
};
// Undoes changes of dead owners (identified by process id and start time); changes from before the last boot are already
// gone. Values changed by someone else since then are kept. Journals of other users are ignored.
core::Result<Restored> restore_dead(const World& world);

struct OpenChange {
  std::int64_t process_id = 0;
  std::string purpose;
  bool alive = false;
  std::string text;  // "/sys/... is performance, was powersave"
};
// All recorded changes not yet undone.
core::Result<std::vector<OpenChange>> list(const World& world);

}  // namespace aaco::laboratory::undo
