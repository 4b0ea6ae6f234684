#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "collectors/collector.h"
#include "core/result.h"

namespace aaco::collectors::kmod {

// One instant on the processor's counter and the raw monotonic clock.
struct ClockPair {
  std::uint64_t tsc = 0;  // in the middle of the reading
  std::int64_t raw_ns = 0;
};

// Interrupts of the whole machine during a region.
struct RegionCounts {
  std::int64_t begin_ns = 0, end_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t device_irqs = 0, timer_irqs = 0, ipis = 0, softirqs = 0;
};

// The kernel module's device (/dev/aaco, kernel/aaco_kmod_abi.h). Not thread-safe; a region ends on the thread that began it.
class Device {
 public:
  virtual ~Device() = default;
  virtual core::Result<ClockPair> clock() = 0;
  // The slot of the region.
  virtual core::Result<std::uint32_t> begin_region() = 0;
  virtual core::Result<RegionCounts> end_region(std::uint32_t slot) = 0;
  // The fdinfo texts of a process' DRM files, separated by empty lines; empty without any.
  virtual core::Result<std::string> drm_text(std::int64_t process_id) = 0;
};

// unsupported where the module is not loaded or has another ABI, permission where this user may not open it; with the remedy.
core::Result<std::shared_ptr<Device>> open_device(const SysRoot& root);

}  // namespace aaco::collectors::kmod
