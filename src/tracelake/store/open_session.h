#pragma once

#include <cstdint>
#include <string>

#include "core/handles.h"
#include "core/result.h"

namespace aaco::tracelake::store {

// The folder of a session that is being made: hidden, locked while its maker lives, renamed into place when whole.
class OpenSession {
 public:
  // Makes <root>/<date>/.<id>.open; fails with conflict where the session, or another maker of it, is there already.
  static core::Result<OpenSession> create(const std::string& root, const std::string& id, std::int64_t created_realtime_ns);

  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool published() const { return path_ == final_path_; }
  // Syncs what is in the folder, renames it and answers the final path.
  core::Result<std::string> publish();
  // Removes the folder.
  void discard();

 private:
  OpenSession(std::string root, std::string final_path, std::string path, core::FileDescriptor lock)
      : root_(std::move(root)), final_path_(std::move(final_path)), path_(std::move(path)), lock_(std::move(lock)) {}
  std::string root_, final_path_, path_;
  core::FileDescriptor lock_;
};

// Whether somebody holds the folder of an open session; unknown where the file system has no locks.
enum class LockState { held, free, unknown };
LockState lock_state(const std::string& open_folder);

}  // namespace aaco::tracelake::store
