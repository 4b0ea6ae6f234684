#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectors/collector.h"
#include "core/handles.h"

namespace aaco::collectors {

// Notices that the control group of a process was frozen and thawed (freezer, cgroup.freeze: "docker pause", batch systems). A
// frozen process neither runs nor waits for a CPU: to the kernel's accounts it sleeps, and version 1 counts no such time. The
// kernel tells of every write to the freezer's files, also of those while this process could not run.
class FreezeWatch {
 public:
  // `process_id` 0: this process.
  FreezeWatch(const SysRoot& root, std::int64_t process_id);

  // Whether a freeze would be noticed: the process is in a group that can be frozen, and its files can be watched.
  [[nodiscard]] bool recorded() const { return watching_; }
  // Whether the freezer was used since the last call; several uses in between are told once.
  bool used();
  // Total time frozen, where the kernel counts it (version 2, since Linux 6.18).
  [[nodiscard]] std::optional<std::int64_t> frozen_ns() const;

 private:
  core::FileDescriptor events_;
  bool watching_ = false;
  std::vector<std::string> times_;
};

// "frozen_usec 1500" of cgroup.stat.local, in ns.
std::optional<std::int64_t> parse_frozen_ns(std::string_view stat);

}  // namespace aaco::collectors
