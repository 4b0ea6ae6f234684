#include "formats/gpu_metrics/layouts.h"

#include <array>

namespace aaco::formats {

std::string_view to_string(GpuMetricsField field) {
  static constexpr std::string_view kNames[] = {"reserved",
                                                "temperature_edge",
                                                "temperature_hotspot",
                                                "temperature_memory",
                                                "temperature_vr_gfx",
                                                "temperature_vr_soc",
                                                "temperature_vr_memory",
                                                "temperature_hbm",
                                                "temperature_gfx",
                                                "temperature_soc",
                                                "temperature_core",
                                                "temperature_l3",
                                                "temperature_skin",
                                                "temperature_aid",
                                                "temperature_xcd",
                                                "gfx_activity",
                                                "memory_activity",
                                                "media_activity",
                                                "vcn_activity",
                                                "jpeg_activity",
                                                "ipu_activity",
                                                "core_activity",
                                                "gfx_activity_accumulated",
                                                "memory_activity_accumulated",
                                                "socket_power_average",
                                                "socket_power_current",
                                                "cpu_power",
                                                "soc_power",
                                                "gfx_power",
                                                "core_power",
                                                "ipu_power",
                                                "apu_power",
                                                "dgpu_power",
                                                "all_core_power",
                                                "system_power",
                                                "power_limit",
                                                "power_limit_current",
                                                "energy",
                                                "driver_time",
                                                "firmware_time",
                                                "gfx_clock_average",
                                                "soc_clock_average",
                                                "memory_clock_average",
                                                "fabric_clock_average",
                                                "vclk_average",
                                                "dclk_average",
                                                "gfx_clock",
                                                "soc_clock",
                                                "memory_clock",
                                                "fabric_clock",
                                                "vclk",
                                                "dclk",
                                                "core_clock",
                                                "l3_clock",
                                                "core_clock_limit",
                                                "gfx_clock_limit",
                                                "throttle_status",
                                                "throttle_status_independent",
                                                "gfx_clock_lock",
                                                "fan_rpm",
                                                "fan_pwm",
                                                "pcie_width",
                                                "pcie_speed",
                                                "pcie_bandwidth",
                                                "pcie_bandwidth_accumulated",
                                                "pcie_l0_to_recovery",
                                                "pcie_replays",
                                                "pcie_replay_rollovers",
                                                "pcie_naks_sent",
                                                "pcie_naks_received",
                                                "pcie_other_end_recovery",
                                                "xgmi_width",
                                                "xgmi_speed",
                                                "xgmi_read",
                                                "xgmi_written",
                                                "xgmi_link_status",
                                                "voltage_soc",
                                                "voltage_gfx",
                                                "voltage_memory",
                                                "voltage_cpu",
                                                "current_soc",
                                                "current_gfx",
                                                "current_cpu",
                                                "memory_bandwidth_max",
                                                "dram_read_rate",
                                                "dram_write_rate",
                                                "ipu_read_rate",
                                                "ipu_write_rate",
                                                "accumulation_cycles",
                                                "throttled_prochot",
                                                "throttled_power",
                                                "throttled_socket_thermal",
                                                "throttled_vr_thermal",
                                                "throttled_hbm_thermal",
                                                "throttled_spl",
                                                "throttled_fppt",
                                                "throttled_sppt",
                                                "throttled_core_thermal",
                                                "throttled_gfx_thermal",
                                                "throttled_soc_thermal",
                                                "partitions",
                                                "partition_gfx_activity",
                                                "partition_gfx_activity_accumulated",
                                                "partition_below_limit",
                                                "partition_below_limit_power",
                                                "partition_below_limit_thermal",
                                                "partition_low_utilization"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(GpuMetricsField::field_count));
  const auto index = static_cast<std::size_t>(field);
  return index < std::size(kNames) ? kNames[index] : "";
}

namespace gpu_metrics {

double factor(Scale scale) {
  switch (scale) {
    case Scale::one: return 1;
    case Scale::hundredth: return 1e-2;
    case Scale::ten_thousandth: return 1e-4;
    case Scale::milli: return 1e-3;
    case Scale::mega: return 1e6;
    case Scale::giga: return 1e9;
    case Scale::hundred_mega: return 1e8;
    case Scale::kilo: return 1e3;
    case Scale::energy_count: return 1.0 / 65536;
    case Scale::nano: return 1e-9;
    case Scale::ten_nano: return 1e-8;
  }
  return 1;
}

const Layout* find_layout(int format, int content) {
  for (const std::span<const Layout> group : {layouts_v1(), layouts_v2_v3()})
    for (const Layout& layout : group)
      if (layout.format == format && layout.content == content) return &layout;
  return nullptr;
}

}  // namespace gpu_metrics
}  // namespace aaco::formats
