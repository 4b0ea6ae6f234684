#include "tracelake/store/access.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "core/files.h"

namespace aaco::tracelake::store {
namespace {

constexpr mode_t kOwnerFolder = 0700, kOwnerFile = 0600;
constexpr mode_t kSharedRoot = 02770, kSharedFolder = 02750, kSharedFile = 0640;

core::Status change_mode(const std::string& path, mode_t mode) {
  if (::chmod(path.c_str(), mode) != 0) return core::fail_errno(errno, path);
  return {};
}

// A folder that is new gets the mode, one that exists keeps its own.
core::Status make_with_mode(const std::string& path, mode_t mode) {
  if (core::exists(path)) return {};
  AACO_TRY(core::make_directories(path));
  return change_mode(path, mode);
}

}  // namespace

bool is_shared(const std::string& root) {
  struct stat info {};
  constexpr mode_t kShared = S_ISGID | S_IWGRP;
  return ::stat(root.c_str(), &info) == 0 && (info.st_mode & kShared) == kShared;
}

core::Status set_shared(const std::string& root, bool shared) {
  AACO_TRY(core::make_directories(root));
  return change_mode(root, shared ? kSharedRoot : kOwnerFolder);
}

core::Status make_root(const std::string& root) { return make_with_mode(root, kOwnerFolder); }

core::Status make_day(const std::string& root, const std::string& day) {
  AACO_TRY(make_root(root));
  return make_with_mode(day, is_shared(root) ? kSharedRoot : kOwnerFolder);
}

core::Status restrict_session(const std::string& root, const std::string& path) {
  namespace fs = std::filesystem;
  const bool shared = is_shared(root);
  AACO_TRY(change_mode(path, shared ? kSharedFolder : kOwnerFolder));
  std::error_code error;
  for (fs::recursive_directory_iterator entry(path, error); !error && entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    if (entry->is_symlink(error)) continue;
    const bool folder = entry->is_directory(error);
    AACO_TRY(change_mode(entry->path().string(),
                         folder ? (shared ? kSharedFolder : kOwnerFolder) : (shared ? kSharedFile : kOwnerFile)));
  }
  if (error) return core::fail_errno(error.value(), path);
  return {};
}

}  // namespace aaco::tracelake::store
