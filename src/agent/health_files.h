#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/minute_book.h"
#include "core/handles.h"
#include "hardware/inventory.h"

namespace aaco::agent {

// Health counters that the collectors do not read: errors of XGMI links (RAS), PCIe replays (AER, where the driver has no count
// of its own), and resets of devices, from the kernel's log. Read once per minute.
class HealthFiles {
 public:
  // `gpus` as in the inventory of the machine below `root`.
  HealthFiles(std::string root, const std::vector<hardware::GpuInfo>& gpus);
  void read(MinuteBook& book);

 private:
  struct Device {
    std::int32_t index = 0;
    std::string pci_address;  // "0000:c1:00.0"
    std::string folder;       // AMD: of its sysfs files
    bool has_replay_count = false;
    std::int64_t resets = 0;
  };
  void read_links(const Device& device, MinuteBook& book) const;
  void read_replays(const Device& device, MinuteBook& book) const;
  void read_kernel_log();

  std::string root_;
  std::vector<Device> devices_;
  core::FileDescriptor log_;  // of /dev/kmsg; invalid: no permission
};

// The device that a line of the kernel's log says was reset or lost: its PCI address as far as the line has it ("0000:c1:00.0" or
// "0000:3b:00"), else empty.
std::string reset_device(std::string_view line);

}  // namespace aaco::agent
