#include "workflows/live/latest_values.h"

#include <algorithm>

#include "core/numbers.h"

namespace aaco::workflows {
namespace {

using MachineValue = std::optional<double> report::LiveMachine::*;
using GpuValue = std::optional<double> report::LiveGpu::*;

const std::map<std::string_view, MachineValue> kMachineValues = {
    {"cpu.use_ratio", &report::LiveMachine::cpu_use_ratio},
    {"cpu.user_ratio", &report::LiveMachine::cpu_user_ratio},
    {"cpu.system_ratio", &report::LiveMachine::cpu_system_ratio},
    {"cpu.iowait_ratio", &report::LiveMachine::cpu_iowait_ratio},
    {"pressure.cpu_some_ratio", &report::LiveMachine::cpu_wait_ratio},
    {"pressure.memory_some_ratio", &report::LiveMachine::memory_wait_ratio},
    {"pressure.io_some_ratio", &report::LiveMachine::io_wait_ratio},
    {"memory.available_bytes", &report::LiveMachine::memory_available_bytes},
    {"system.load_1min", &report::LiveMachine::load_1min}};

const std::map<std::string_view, GpuValue> kGpuValues = {{"gpu.use_ratio", &report::LiveGpu::use_ratio},
                                                         {"gpu.vram_used_bytes", &report::LiveGpu::memory_used_bytes},
                                                         {"gpu.vram_total_bytes", &report::LiveGpu::memory_total_bytes},
                                                         {"gpu.power_watts", &report::LiveGpu::power_watts},
                                                         {"gpu.power_cap_watts", &report::LiveGpu::power_cap_watts},
                                                         {"gpu.temperature_celsius", &report::LiveGpu::temperature_celsius},
                                                         {"gpu.clock_hz", &report::LiveGpu::clock_hz}};

// "power" of gpu.throttle_power_flag and gpu.throttled_power_ratio; empty for other metrics.
std::string_view throttle_reason(std::string_view metric) {
  for (const auto& [start, end] : {std::pair<std::string_view, std::string_view>{"gpu.throttle_", "_flag"},
                                   std::pair<std::string_view, std::string_view>{"gpu.throttled_", "_ratio"}})
    if (metric.starts_with(start) && metric.ends_with(end))
      return metric.substr(start.size(), metric.size() - start.size() - end.size());
  return {};
}

void add_to(std::optional<double>& sum, double value) { sum = sum.value_or(0) + value; }

}  // namespace

void LatestValues::fill(report::LiveMachine& machine, std::int64_t now_ns, std::int64_t max_age_ns) const {
  double clock_sum = 0;
  std::size_t clocks = 0;
  for (const auto& [key, one] : host_) {
    if (now_ns - one.time_ns > max_age_ns) continue;
    const std::string_view metric = names_.text({key.first}), entity = names_.text({key.second});
    const auto known = kMachineValues.find(metric);
    if (known != kMachineValues.end() && entity.empty()) machine.*known->second = one.value;
    const auto core = entity.starts_with("cpu") ? core::parse_i64(entity.substr(3)) : std::nullopt;
    if (metric == "cpu.use_ratio" && core && *core >= 0 && *core < 4096) {
      const auto at = static_cast<std::size_t>(*core);
      if (machine.core_use_ratios.size() <= at) machine.core_use_ratios.resize(at + 1);
      machine.core_use_ratios[at] = one.value;
    } else if (metric == "cpu.clock_hz") {
      clock_sum += one.value;
      ++clocks;
    } else if (metric == "cpu.power_watts" && entity.find("core") == std::string_view::npos &&
               entity.find("dram") == std::string_view::npos) {
      add_to(machine.cpu_power_watts, one.value);
    } else if (metric == "cpu.temperature_celsius") {
      machine.cpu_temperature_celsius = std::max(machine.cpu_temperature_celsius.value_or(one.value), one.value);
    }
  }
  if (clocks > 0) machine.cpu_clock_hz = clock_sum / static_cast<double>(clocks);
  for (const auto& [key, one] : gpu_) {
    if (now_ns - one.time_ns > max_age_ns) continue;
    auto gpu = std::find_if(machine.gpus.begin(), machine.gpus.end(),
                            [device = key.first](const auto& known) { return known.device == device; });
    if (gpu == machine.gpus.end()) {
      gpu = machine.gpus.insert(gpu, report::LiveGpu());
      gpu->device = key.first;
    }
    const std::string_view metric = names_.text({key.second});
    if (const auto known = kGpuValues.find(metric); known != kGpuValues.end()) (*gpu).*known->second = one.value;
    const std::string_view reason = throttle_reason(metric);
    const bool listed = std::find(gpu->throttled.begin(), gpu->throttled.end(), reason) != gpu->throttled.end();
    if (!reason.empty() && one.value > 0 && !listed) gpu->throttled.emplace_back(reason);
  }
}

}  // namespace aaco::workflows
