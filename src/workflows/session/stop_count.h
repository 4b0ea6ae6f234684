#pragma once

#include <csignal>
#include <cstdint>

namespace aaco::workflows {

// Counts how often this process was stopped (SIGSTOP, a debugger, a batch system) and continued, while this lives. A stopped
// process neither runs nor waits for a CPU: to the kernel's accounts it sleeps, and only the SIGCONT at the end tells. One at a
// time.
class StopCount {
 public:
  StopCount();
  ~StopCount();
  StopCount(const StopCount&) = delete;
  StopCount& operator=(const StopCount&) = delete;
  [[nodiscard]] std::int64_t count() const;  // since the process began to count

 private:
  struct sigaction before_ {};
};

}  // namespace aaco::workflows
