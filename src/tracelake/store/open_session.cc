#include "tracelake/store/open_session.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "core/clock.h"
#include "core/files.h"
#include "tracelake/store/access.h"
#include "tracelake/store/paths.h"

namespace aaco::tracelake::store {
namespace {

using core::ErrorCode;
using core::join_path;

core::FileDescriptor open_folder(const std::string& path) {
  return core::FileDescriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

core::Status sync_folder(const std::string& path) {
  const core::FileDescriptor folder = open_folder(path);
  if (!folder.valid() || ::fsync(folder.get()) != 0) return core::fail_errno(errno, path);
  return {};
}

core::Status sync_file(const std::string& path) {
  const core::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() || ::fsync(file.get()) != 0) return core::fail_errno(errno, path);
  return {};
}

// Side by side: the file system writes its journal once for several of them.
core::Status sync_files(const std::vector<std::string>& paths) {
  constexpr std::size_t kTogether = 8;
  std::vector<core::Status> results(paths.size());
  {
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::min(kTogether, paths.size()); ++i)
      threads.emplace_back([&] {
        for (std::size_t at = next++; at < paths.size(); at = next++) results[at] = sync_file(paths[at]);
      });
  }
  for (core::Status& result : results) AACO_TRY(std::move(result));
  return {};
}

}  // namespace

core::Result<OpenSession> OpenSession::create(const std::string& root, const std::string& id, std::int64_t created_realtime_ns) {
  AACO_TRY(check_session_id(id));
  const std::string absolute = core::absolute_path(root);
  const std::string day = join_path(absolute, core::iso8601_utc(created_realtime_ns).substr(0, 10));
  const std::string final_path = join_path(day, id);
  const std::string path = open_folder_of(final_path);
  const std::string remedy = "choose another sessions folder (--out, AACO_SESSIONS)";
  if (core::Status made = make_day(absolute, day); !made) {
    core::Error error = std::move(made).error();
    if (error.remedy.empty()) error.remedy = remedy;
    return tl::unexpected<core::Error>(std::move(error).with("creating a session"));
  }
  if (core::exists(final_path)) return core::fail(ErrorCode::conflict, final_path + ": the session already exists");
  if (::mkdir(path.c_str(), 0700) != 0) return core::fail_errno(errno, path, errno == EEXIST ? "" : remedy);
  core::FileDescriptor lock = open_folder(path);
  if (!lock.valid()) return core::fail_errno(errno, path);
  (void)::flock(lock.get(), LOCK_EX);
  return OpenSession(absolute, final_path, path, std::move(lock));
}

core::Result<std::string> OpenSession::publish() {
  AACO_ASSIGN(auto files, bundle_files(path_));
  for (std::string& file : files) file = join_path(path_, file);
  AACO_TRY(restrict_session(root_, path_));
  AACO_TRY(sync_files(files));
  AACO_TRY(sync_folder(path_));
  AACO_TRY(core::rename_path(path_, final_path_));
  path_ = final_path_;
  lock_.reset();
  AACO_TRY(sync_folder(core::parent_path(final_path_)));
  return final_path_;
}

void OpenSession::discard() {
  if (!published()) (void)core::remove_tree(path_);
  lock_.reset();
}

LockState lock_state(const std::string& path) {
  const core::FileDescriptor folder = open_folder(path);
  if (!folder.valid()) return LockState::unknown;
  if (::flock(folder.get(), LOCK_SH | LOCK_NB) == 0) return LockState::free;
  return errno == EWOULDBLOCK ? LockState::held : LockState::unknown;
}

}  // namespace aaco::tracelake::store
