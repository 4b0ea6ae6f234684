#pragma once

#include <cstdint>
#include <optional>

namespace aaco::hardware {

// How well the kernel's real-time clock follows an outside source (NTP, PTP), as the kernel states it.
struct TimeSync {
  bool synchronised = false;
  std::int64_t max_error_ns = 0;
};
// Empty where the kernel does not report it.
std::optional<TimeSync> read_time_sync();

}  // namespace aaco::hardware
