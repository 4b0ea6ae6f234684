#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hardware/inventory.h"

namespace aaco::hardware {

// An AMD GPU as the amdgpu driver shows it. Folders are below the file-system root, hwmon_folder is empty where there is none.
struct AmdDevice {
  std::int64_t index = 0;    // by PCI address; the device number of collectors and of the inventory
  std::string folder;        // "/sys/class/drm/card1/device"
  std::string hwmon_folder;  // "/sys/class/drm/card1/device/hwmon/hwmon4"
  std::string pci_address;   // "0000:c1:00.0", or empty
  bool operator==(const AmdDevice&) const = default;
};

// Every card of vendor 0x1002 below `root` that the amdgpu driver holds.
std::vector<AmdDevice> find_amd_devices(const std::string& root);

// AMD devices first, then NVIDIA's by PCI address (the order of NVML), each with what its driver tells.
std::vector<GpuInfo> read_gpus(const std::string& root);

// "16.0 GT/s PCIe" -> 16e9; empty for "Unknown" and the like.
std::optional<double> parse_link_speed(const std::string& text);

}  // namespace aaco::hardware
