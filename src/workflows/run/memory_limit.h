#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/metric.h"

namespace aaco::workflows {

// What a process's control group did at its memory limit while the process ran, by the kernel's counters. A process that moves to
// another group (a launcher that limits itself, a batch system) is followed. The counters are those of the group: programs beside
// it in the same group count too.
class MemoryLimit {
 public:
  // `root` is the file-system root below which the groups are read.
  MemoryLimit(std::string root, std::int64_t process_id);
  // To be called now and then: what a group counted is lost once it is removed.
  void look();
  // Adds cgroup.memory_limit_bytes and cgroup.memory_limit_hits where there is a limit, and cgroup.oom_kills where the kernel
  // counts them.
  void account(trace::Metrics& metrics);

 private:
  struct Counts {
    std::optional<std::int64_t> hits, kills;
  };
  [[nodiscard]] Counts read() const;
  void enter();
  void leave();

  std::string root_;
  std::int64_t process_id_;
  std::string groups_;  // as the kernel names those of the process
  std::string hits_file_, hits_key_, kills_file_;
  std::optional<std::int64_t> limit_bytes_;
  Counts first_, last_, before_;  // of this group; of the groups that the process has left
};

}  // namespace aaco::workflows
