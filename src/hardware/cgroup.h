#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace aaco::hardware {

// The control group a process runs in, and the tightest limits on the way from it to the root of the hierarchy.
struct Cgroup {
  int version = 0;            // of the hierarchy that schedules CPU time: 1, 2, or 0 where there is none
  std::string name;           // "/system.slice/job.service"
  std::string cpu_folder;     // where its cpu.stat lies, below the file-system root; empty: none. The group that has the tightest
                              // quota, where one has: that is the group that is throttled.
  std::string memory_folder;  // where its memory files lie; empty: none
  int memory_version = 0;
  std::string memory_limit_folder;  // of the group that has the memory limit; empty: none
  std::optional<double> cpu_limit_cores;
  std::optional<std::int64_t> memory_limit_bytes;
  std::optional<std::string> cpus;        // "0-3", as the kernel lists the CPUs it may use
  std::vector<std::int64_t> cpu_weights;  // cpu.weight (v2) or cpu.shares (v1) of the group and those above it, innermost first
  bool operator==(const Cgroup&) const = default;
};

// "shares 256" or "weight 50"; of nested groups those that differ from the kernel's default, innermost first: "weight 50 in
// weight 200". Empty: all have the default.
std::string cpu_weight_text(const Cgroup& cgroup);

// Reads PID's membership and limits below the file-system root `root`; process_id 0 is this process ("self"). What cannot be
// found is empty.
Cgroup find_cgroup(const std::string& root, std::int64_t process_id);

}  // namespace aaco::hardware
