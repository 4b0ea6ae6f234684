#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aaco::hardware {

// Where a process stands in the hierarchy that has a controller.
struct ControllerGroup {
  int version = 0;     // 1 or 2
  std::string folder;  // below the file-system root
  std::string mount;   // the hierarchy's own folder
  bool operator==(const ControllerGroup&) const = default;
};

// The group of PID (0: this process) for "cpu", "cpuset", "memory", ...: of a v1 hierarchy, else of a v2 tree that has the
// controller. Empty where there is neither.
std::optional<ControllerGroup> find_controller(const std::string& root, std::int64_t process_id, std::string_view controller);

// The files of the cgroup freezer of PID (0: this process): those of its group and of the groups above it, innermost first, in
// every hierarchy that can freeze. Below the file-system root; empty where there is no such hierarchy, or the process is in its
// root.
struct FreezerFiles {
  std::vector<std::string> controls;  // written to freeze and to thaw: freezer.state (v1), cgroup.freeze (v2)
  std::vector<std::string> times;     // cgroup.stat.local of the process's own v2 group: frozen_usec, since Linux 6.18
  bool operator==(const FreezerFiles&) const = default;
};
FreezerFiles find_freezer(const std::string& root, std::int64_t process_id);

}  // namespace aaco::hardware
