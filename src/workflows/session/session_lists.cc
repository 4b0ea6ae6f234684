#include "workflows/session_lists.h"

#include <sys/stat.h>

#include <algorithm>

#include "core/clock.h"
#include "core/files.h"

namespace aaco::workflows {
namespace {

// Folders are stamped in steps of a clock tick: two changes within one have the same time.
constexpr std::int64_t kStampStep_ns = 50'000'000;

std::int64_t changed_at(const std::string& folder) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) return 0;
  return static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
}

}  // namespace

core::Result<SessionPage> SessionLists::page(const SessionFilter& filter, const core::Paths& paths) {
  const std::lock_guard lock(mutex_);
  const std::int64_t now_ns = core::monotonic_ns();
  Folders folders{{paths.sessions, changed_at(paths.sessions)},
                  {".notes", changed_at(core::join_path(paths.sessions, ".notes"))}};
  for (const std::string& day : core::list_directory(paths.sessions).value_or(std::vector<std::string>()))
    if (!day.starts_with('.')) folders.emplace_back(day, changed_at(core::join_path(paths.sessions, day)));
  if (!settled_ || folders != folders_ || now_ns - read_ns_ > kMaxAge_ns) {
    const std::int64_t wall_ns = core::SystemClock().now_ns(core::ClockId::realtime);
    AACO_ASSIGN(lines_, list(paths.sessions));
    settled_ = std::all_of(folders.begin(), folders.end(), [&](const auto& one) { return one.second < wall_ns - kStampStep_ns; });
    folders_ = std::move(folders);
    read_ns_ = now_ns;
  }
  return select_sessions(lines_, filter);
}

}  // namespace aaco::workflows
