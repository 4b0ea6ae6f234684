#pragma once

#include <optional>
#include <string>
#include <vector>

namespace aaco::hardware {

// The CPUs this process may use: its affinity mask, which taskset and cpusets narrow, and the quota of its cgroups. To be read
// before a runtime starts: runtimes pin threads, also to CPUs outside the mask.
struct UsableCpus {
  std::vector<int> allowed;           // of the calling thread, ascending; empty if the kernel does not report them
  std::optional<double> quota_cores;  // tightest quota on the way to the root of the hierarchy
  int online = 0;                     // CPUs of the machine; 0: unknown
  // Threads that fit where the mask or the quota leaves fewer CPUs than the machine has; 0: nothing is narrowed.
  [[nodiscard]] int pool_threads() const;
  // The CPUs for such threads where each has one of its own (the mask narrows, the quota does not); otherwise empty.
  [[nodiscard]] std::vector<int> pool_cpus() const;
  // "0-2,5"; empty if unknown.
  [[nodiscard]] std::string allowed_list() const;
};

// `root` is the file-system root below which the cgroups are read.
UsableCpus usable_cpus(const std::string& root = "/");

}  // namespace aaco::hardware
