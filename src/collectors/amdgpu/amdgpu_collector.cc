#include "collectors/amdgpu/amdgpu_collector.h"

#include "collectors/amdgpu/gpu_metrics_source.h"
#include "collectors/amdgpu/level_source.h"
#include "collectors/amdgpu/sysfs_text.h"
#include "collectors/probe/sources_collector.h"
#include "hardware/gpu_devices.h"

namespace aaco::collectors::amdgpu {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr double kPercent = 1e-2;
constexpr double kMicro = 1e-6;
constexpr double kMilli = 1e-3;

std::vector<LevelSpec> activity_files(const std::string& folder) {
  return {{folder + "/gpu_busy_percent", "gpu.use_ratio", kPercent, parse_level},
          {folder + "/mem_busy_percent", "gpu.memory_use_ratio", kPercent, parse_level},
          {folder + "/vcn_busy_percent", "gpu.media_use_ratio", kPercent, parse_level},
          {folder + "/mem_info_vram_used", "gpu.vram_used_bytes", 1, parse_level},
          {folder + "/mem_info_gtt_used", "gpu.gtt_used_bytes", 1, parse_level}};
}

// The driver labels its sensors edge, junction and mem. The junction is the hottest spot and what limits the clocks: it is the
// temperature of the device; where a chip shows only its edge, that is.
void add_temperatures(const SysRoot& root, const std::string& folder, std::vector<LevelSpec>& specs) {
  std::string edge;
  bool has_junction = false;
  for (int i = 1; i <= 3; ++i) {
    const std::string sensor = folder + "/temp" + std::to_string(i);
    const std::string label = probe::read_small(root.at(sensor + "_label")).value_or("");
    if (label == "edge") edge = sensor + "_input";
    if (label == "junction") specs.push_back({sensor + "_input", "gpu.temperature_celsius", kMilli, parse_level});
    if (label == "mem") specs.push_back({sensor + "_input", "gpu.temperature_memory_celsius", kMilli, parse_level});
    has_junction = has_junction || label == "junction";
  }
  if (!edge.empty())
    specs.push_back({edge, has_junction ? "gpu.temperature_edge_celsius" : "gpu.temperature_celsius", kMilli, parse_level});
}

std::vector<LevelSpec> hwmon_files(const SysRoot& root, const std::string& folder) {
  std::vector<LevelSpec> specs = {{folder + "/energy1_input", "gpu.energy_joules", kMicro, parse_level},
                                  {folder + "/in0_input", "gpu.voltage_volts", kMilli, parse_level},
                                  {folder + "/fan1_input", "gpu.fan_rpm", 1, parse_level}};
  // Older kernels know only the average, newer ones of some chips only the present power; where both are, the average stands for
  // the interval between two readings better.
  const char* const power = probe::read_small(root.at(folder + "/power1_average")) ? "/power1_average" : "/power1_input";
  specs.push_back({folder + power, "gpu.power_watts", kMicro, parse_level});
  add_temperatures(root, folder, specs);
  for (int i = 1; i <= 2; ++i) {
    const std::string clock = folder + "/freq" + std::to_string(i);
    const std::string label = probe::read_small(root.at(clock + "_label")).value_or("");
    if (label == "sclk") specs.push_back({clock + "_input", "gpu.clock_hz", 1, parse_level});
    if (label == "mclk") specs.push_back({clock + "_input", "gpu.memory_clock_hz", 1, parse_level});
  }
  return specs;
}

std::vector<LevelSpec> clock_files(const std::string& folder) {
  return {{folder + "/pp_dpm_sclk", "gpu.clock_hz", 1, parse_current_clock},
          {folder + "/pp_dpm_mclk", "gpu.memory_clock_hz", 1, parse_current_clock},
          {folder + "/pp_dpm_fclk", "gpu.fabric_clock_hz", 1, parse_current_clock},
          {folder + "/pp_dpm_socclk", "gpu.soc_clock_hz", 1, parse_current_clock}};
}

// pcie_bw is left alone: reading it makes the driver wait for a second.
std::vector<LevelSpec> slow_files(const hardware::AmdDevice& device) {
  std::vector<LevelSpec> specs = {
      {device.folder + "/mem_info_vram_total", "gpu.vram_total_bytes", 1, parse_level},
      {device.folder + "/current_link_speed", "gpu.pcie_speed_transfers_per_second", 1, parse_link_speed},
      {device.folder + "/current_link_width", "gpu.pcie_width_lanes", 1, parse_level},
      {device.folder + "/pcie_replay_count", "gpu.pcie_replays_count", 1, parse_level}};
  if (!device.hwmon_folder.empty())
    specs.push_back({device.hwmon_folder + "/power1_cap", "gpu.power_cap_watts", kMicro, parse_level});
  return specs;
}

std::vector<std::string> error_files(const SysRoot& root, const std::string& folder) {
  std::vector<std::string> paths;
  for (const std::string& name : core::list_directory(root.at(folder + "/ras")).value_or(std::vector<std::string>{}))
    if (name.ends_with("_err_count")) paths.push_back(folder + "/ras/" + name);
  return paths;
}

class AmdgpuCollector final : public probe::SourcesCollector {
 public:
  explicit AmdgpuCollector(std::unique_ptr<core::Clock> clock) : SourcesCollector("amdgpu", std::move(clock)) {}

  [[nodiscard]] CollectorInfo info() const override {
    return {"amdgpu", "utilisation, memory, power, energy, temperature, clocks, throttling, links and error counts of AMD GPUs"};
  }
  core::Status open(const SysRoot& root, const Target& target) override {
    const auto devices = hardware::find_amd_devices(root.path);
    if (devices.empty())
      return core::fail(core::ErrorCode::unsupported, "no AMD GPU uses the amdgpu driver on this machine",
                        "if the machine has an AMD GPU: modprobe amdgpu");
    for (const hardware::AmdDevice& device : devices) add_device(root, device);
    return sources().open(root, target);
  }

 private:
  void add_device(const SysRoot& root, const hardware::AmdDevice& device) {
    const auto add = [&](const char* name, std::vector<LevelSpec> specs, std::int64_t period_ms) {
      sources().add(std::make_unique<LevelSource>(name, device.index, std::move(specs)), period_ms * kMillisecond);
    };
    sources().add(std::make_unique<GpuMetricsSource>(device.folder + "/gpu_metrics", device.index), 20 * kMillisecond);
    add("amdgpu.sysfs", activity_files(device.folder), 50);
    if (!device.hwmon_folder.empty()) add("amdgpu.hwmon", hwmon_files(root, device.hwmon_folder), 50);
    add("amdgpu.pp_dpm", clock_files(device.folder), 200);
    add("amdgpu.sysfs", slow_files(device), 1000);
    sources().add(std::make_unique<SumSource>("amdgpu.ras", device.index, error_files(root, device.folder)), 1000 * kMillisecond);
  }
};

}  // namespace

std::unique_ptr<Collector> make_collector(std::unique_ptr<core::Clock> clock) {
  return std::make_unique<AmdgpuCollector>(std::move(clock));
}

}  // namespace aaco::collectors::amdgpu
