#include <algorithm>
#include <array>

#include "collectors/smi/smi_collector.h"
#include "core/files.h"
#include "hardware/gpu_devices.h"

namespace aaco::collectors::smi {
namespace {

struct Place {
  const char* metric;
  const char* file;
  bool hwmon;
};

// Files that the amdgpu collector reads; a binary gpu_metrics table holds power, clocks, use and temperature too.
constexpr std::array<Place, 12> kPlaces = {{{"gpu.use_ratio", "/gpu_busy_percent", false},
                                            {"gpu.use_ratio", "/gpu_metrics", false},
                                            {"gpu.vram_used_bytes", "/mem_info_vram_used", false},
                                            {"gpu.vram_total_bytes", "/mem_info_vram_total", false},
                                            {"gpu.power_watts", "/power1_average", true},
                                            {"gpu.power_watts", "/power1_input", true},
                                            {"gpu.power_watts", "/gpu_metrics", false},
                                            {"gpu.temperature_celsius", "/temp1_input", true},
                                            {"gpu.temperature_celsius", "/gpu_metrics", false},
                                            {"gpu.clock_hz", "/freq1_input", true},
                                            {"gpu.clock_hz", "/pp_dpm_sclk", false},
                                            {"gpu.clock_hz", "/gpu_metrics", false}}};

bool gives(const SysRoot& root, const hardware::AmdDevice& device, const Place& place) {
  if (place.hwmon && device.hwmon_folder.empty()) return false;
  return core::exists(root.at((place.hwmon ? device.hwmon_folder : device.folder) + place.file));
}

}  // namespace

std::vector<std::string> quantities_of_sysfs(const SysRoot& root) {
  const auto devices = hardware::find_amd_devices(root.path);
  std::vector<std::string> found;
  if (devices.empty()) return found;
  for (const Place& wanted : kPlaces) {
    if (std::find(found.begin(), found.end(), wanted.metric) != found.end()) continue;
    const bool everywhere = std::all_of(devices.begin(), devices.end(), [&](const auto& device) {
      return std::any_of(kPlaces.begin(), kPlaces.end(), [&](const Place& place) {
        return std::string_view(place.metric) == wanted.metric && gives(root, device, place);
      });
    });
    if (everywhere) found.emplace_back(wanted.metric);
  }
  return found;
}

}  // namespace aaco::collectors::smi
