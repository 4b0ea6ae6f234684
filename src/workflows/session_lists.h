#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "workflows/session_list.h"

namespace aaco::workflows {

// Lists of a lake for many that ask: the sessions are read again where a folder of the lake has changed, at the latest after
// kMaxAge_ns. For any thread.
class SessionLists {
 public:
  static constexpr std::int64_t kMaxAge_ns = 1'000'000'000;  // what changes within a session (its writer died) shows by then
  core::Result<SessionPage> page(const SessionFilter& filter, const core::Paths& paths);

 private:
  using Folders = std::vector<std::pair<std::string, std::int64_t>>;  // with the time of their last change

  std::mutex mutex_;
  std::vector<SessionLine> lines_;
  Folders folders_;
  std::int64_t read_ns_ = 0;
  bool settled_ = false;
};

}  // namespace aaco::workflows
