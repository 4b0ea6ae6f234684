#include "collectors/amdgpu/clock_settings.h"

#include "collectors/amdgpu/sysfs_text.h"
#include "collectors/collector.h"
#include "collectors/probe/probe_file.h"
#include "hardware/gpu_devices.h"

namespace aaco::collectors::amdgpu {
namespace {

core::Json clock_json(const std::string& text) {
  core::Json levels = core::Json::array();
  for (const double level : parse_clock_levels(text)) levels.push(level);
  core::Json out = core::Json::object({{"levels_hz", std::move(levels)}});
  return std::move(out.set_if("current_hz", parse_current_clock(text)));
}

}  // namespace

core::Json clock_settings(const std::string& root) {
  core::Json gpus = core::Json::array();
  for (const hardware::AmdDevice& device : hardware::find_amd_devices(root)) {
    const auto text = [&](const std::string& file) { return probe::read_small(SysRoot{root}.at(device.folder + file)); };
    core::Json gpu = core::Json::object({{"device", device.index}, {"vendor", "amd"}});
    gpu.set_if("performance_level", text("/power_dpm_force_performance_level"));
    if (!device.hwmon_folder.empty())
      if (const auto cap = probe::read_small_i64(SysRoot{root}.at(device.hwmon_folder + "/power1_cap")))
        gpu.set("power_cap_watts", static_cast<double>(*cap) * 1e-6);
    core::Json clocks = core::Json::object();
    for (const char* clock : {"sclk", "mclk", "fclk", "socclk"})
      if (const auto levels = text(std::string("/pp_dpm_") + clock); levels && !levels->empty())
        clocks.set(clock, clock_json(*levels));
    if (!clocks.members().empty()) gpu.set("clocks", std::move(clocks));
    gpus.push(std::move(gpu));
  }
  return gpus;
}

}  // namespace aaco::collectors::amdgpu
