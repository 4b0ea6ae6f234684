#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"
#include "laboratory/undo/change.h"

namespace aaco::laboratory::undo {
namespace {

using core::ErrorCode;

// What somebody else wrote is not obeyed: with sudo, the folder may be another user's.
bool is_ours(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == ::geteuid() &&
         (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

core::Result<std::vector<std::string>> journals(const World& world) {
  std::vector<std::string> paths;
  if (world.folder.empty() || !core::exists(world.folder)) return paths;
  AACO_ASSIGN(const auto names, core::list_directory(world.folder));
  for (const std::string& name : names) {
    std::string path = core::join_path(world.folder, name);
    if (name.ends_with(kEnding) && is_ours(path)) paths.push_back(std::move(path));
  }
  return paths;
}

bool lives(const Owner& owner, const World& world) { return owner_of(world, owner.process_id) == owner; }

core::Status replay(const std::string& path, const Noted& noted, Restored& restored) {
  std::size_t left = 0;
  for (auto change = noted.changes.rbegin(); change != noted.changes.rend(); ++change) {
    const auto undone = undo(*change);
    if (!undone) {
      restored.left.push_back(to_text(*change) + ": " + undone.error().message);
      ++left;
    } else if (*undone) {
      ++restored.undone;
      restored.texts.push_back(change->kind == Change::Kind::group ? "removed the " + to_text(*change)
                                                                   : "restored " + change->path + " to " + change->before);
    }
  }
  return left == 0 ? core::remove_tree(path) : core::Status();
}

}  // namespace

core::Result<Restored> restore_dead(const World& world) {
  Restored restored;
  AACO_ASSIGN(const auto paths, journals(world));
  if (paths.empty()) return restored;
  // One at a time: two would count each other's work.
  const core::FileDescriptor lock(
      ::open(core::join_path(world.folder, "restore.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid() || ::flock(lock.get(), LOCK_EX) != 0) return core::fail_errno(errno, "locking " + world.folder);
  const World real{"/", world.folder};
  for (const std::string& path : paths) {
    const auto noted = read_journal(path, world);
    if (!noted) {
      // Without a whole first line nothing was changed: the first change comes after it is on disk.
      if (noted.error().code == ErrorCode::invalid_input) AACO_TRY(core::remove_tree(path));
      continue;
    }
    if (lives(noted->owner, real)) continue;
    for (const std::string& text : noted->damaged) restored.left.push_back(text);
    if (noted->owner.boot_id != owner_of(real, ::getpid()).boot_id)
      AACO_TRY(core::remove_tree(path));
    else
      AACO_TRY(replay(path, *noted, restored));
  }
  return restored;
}

core::Result<std::vector<OpenChange>> list(const World& world) {
  std::vector<OpenChange> open;
  AACO_ASSIGN(const auto paths, journals(world));
  for (const std::string& path : paths) {
    const auto noted = read_journal(path, world);
    if (!noted) continue;
    const bool alive = lives(noted->owner, {"/", world.folder});
    for (const Change& change : noted->changes) open.push_back({noted->owner.process_id, noted->purpose, alive, to_text(change)});
  }
  return open;
}

}  // namespace aaco::laboratory::undo
