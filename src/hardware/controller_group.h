#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace aaco::hardware
