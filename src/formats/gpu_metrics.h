#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace aaco::formats {

// What a value of the amdgpu driver's gpu_metrics table means. The unit in the comment is that of GpuMetricsValue::value.
enum class GpuMetricsField : std::uint8_t {
  reserved,
  // degrees Celsius
  temperature_edge,
  temperature_hotspot,
  temperature_memory,
  temperature_vr_gfx,
  temperature_vr_soc,
  temperature_vr_memory,
  temperature_hbm,
  temperature_gfx,
  temperature_soc,
  temperature_core,
  temperature_l3,
  temperature_skin,
  temperature_aid,
  temperature_xcd,
  // ratio; those with _accumulated are sums of ratios, one a firmware cycle
  gfx_activity,
  memory_activity,
  media_activity,
  vcn_activity,
  jpeg_activity,
  ipu_activity,
  core_activity,
  gfx_activity_accumulated,
  memory_activity_accumulated,
  // W
  socket_power_average,
  socket_power_current,
  cpu_power,
  soc_power,
  gfx_power,
  core_power,
  ipu_power,
  apu_power,
  dgpu_power,
  all_core_power,
  system_power,
  power_limit,
  power_limit_current,
  energy,  // J since some past moment
  driver_time,
  firmware_time,  // s
  // Hz
  gfx_clock_average,
  soc_clock_average,
  memory_clock_average,
  fabric_clock_average,
  vclk_average,
  dclk_average,
  gfx_clock,
  soc_clock,
  memory_clock,
  fabric_clock,
  vclk,
  dclk,
  core_clock,
  l3_clock,
  core_clock_limit,
  gfx_clock_limit,
  throttle_status,              // bits, their meaning depends on the chip
  throttle_status_independent,  // bits as ThrottleBits below reads them
  gfx_clock_lock,               // a bit for each graphics clock
  fan_rpm,
  fan_pwm,
  pcie_width,                  // lanes
  pcie_speed,                  // transfers/s
  pcie_bandwidth,              // bytes/s
  pcie_bandwidth_accumulated,  // sum of bandwidths in bytes/s, one a firmware cycle
  pcie_l0_to_recovery,
  pcie_replays,
  pcie_replay_rollovers,
  pcie_naks_sent,
  pcie_naks_received,
  pcie_other_end_recovery,  // events
  xgmi_width,               // lanes
  xgmi_speed,               // bits/s
  xgmi_read,
  xgmi_written,      // bytes, one value a link
  xgmi_link_status,  // 0 inactive, 1 active, 2 not available
  voltage_soc,
  voltage_gfx,
  voltage_memory,
  voltage_cpu,  // V
  current_soc,
  current_gfx,
  current_cpu,           // A
  memory_bandwidth_max,  // bytes/s
  dram_read_rate,
  dram_write_rate,
  ipu_read_rate,
  ipu_write_rate,       // bytes/s
  accumulation_cycles,  // firmware cycles
  throttled_prochot,
  throttled_power,
  throttled_socket_thermal,
  throttled_vr_thermal,
  throttled_hbm_thermal,  // firmware cycles
  throttled_spl,
  throttled_fppt,
  throttled_sppt,
  throttled_core_thermal,
  throttled_gfx_thermal,
  throttled_soc_thermal,
  partitions,  // how many the device is split into
  // one value a compute die and partition: index = partition * 8 + die
  partition_gfx_activity,              // ratio
  partition_gfx_activity_accumulated,  // sum of ratios
  partition_below_limit,
  partition_below_limit_power,
  partition_below_limit_thermal,
  partition_low_utilization,  // firmware cycles
  field_count
};

std::string_view to_string(GpuMetricsField field);

struct GpuMetricsValue {
  GpuMetricsField field = GpuMetricsField::reserved;
  std::uint16_t index = 0;  // among the instances of this field
  std::uint64_t raw = 0;
  double value = 0;
  bool operator==(const GpuMetricsValue&) const = default;
};

struct GpuMetrics {
  int format = 0, content = 0;          // version "format.content"
  std::vector<GpuMetricsValue> values;  // in the order of the table; what the driver marked as not available is left out
  std::array<std::int16_t, static_cast<std::size_t>(GpuMetricsField::field_count)> first{};  // a field's first value, -1: none
  std::int64_t not_available = 0;                                                            // values so marked
  std::int64_t unknown_fields = 0;  // attributes of a self-describing table that this decoder does not know

  // The value of an instance, or null.
  [[nodiscard]] const GpuMetricsValue* find(GpuMetricsField field, std::uint16_t index = 0) const;
};

// Decodes the bytes of /sys/class/drm/cardN/device/gpu_metrics: v1.0-v1.8, v2.0-v2.4, v3.0 each by its own layout, and v1.9,
// which describes itself. `into` keeps its memory from call to call. unsupported for another version, invalid_input for a table
// that is shorter than its version needs. Units of v2.0 to v2.3: temperatures and activity in hundredths, power in mW (some
// Renoir firmware gives W).
core::Status decode_gpu_metrics(std::string_view bytes, GpuMetrics& into);

// Why a chip holds its clocks down, from throttle_status_independent (amdgpu_smu.h of Linux gives the bits).
struct ThrottleBits {
  bool power = false, current = false, thermal = false, other = false;
  bool operator==(const ThrottleBits&) const = default;
};
ThrottleBits throttle_bits(std::uint64_t independent_status);

}  // namespace aaco::formats
