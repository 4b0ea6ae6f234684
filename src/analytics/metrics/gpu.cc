#include <array>
#include <cmath>
#include <map>

#include "analytics/metrics/reduction.h"
#include "analytics/metrics/series.h"
#include "analytics/telemetry.h"

namespace aaco::analytics::metrics {
namespace {

struct GpuRule {
  std::string_view id;
  std::string_view metric;
  Reduction reduction;
  std::string_view unit;
};

constexpr std::array kGpuRules = {
    GpuRule{"gpu.use_ratio", "gpu.use_ratio", Reduction::mean, "ratio"},
    GpuRule{"gpu.memory_use_ratio", "gpu.memory_use_ratio", Reduction::mean, "ratio"},
    GpuRule{"gpu.power_mean_watts", "gpu.power_watts", Reduction::mean, "W"},
    GpuRule{"gpu.power_peak_watts", "gpu.power_watts", Reduction::maximum, "W"},
    GpuRule{"gpu.power_cov_ratio", "gpu.power_watts", Reduction::variation, "ratio"},
    GpuRule{"gpu.clock_mean_hz", "gpu.clock_hz", Reduction::mean, "Hz"},
    GpuRule{"gpu.clock_cov_ratio", "gpu.clock_hz", Reduction::variation, "ratio"},
    GpuRule{"gpu.memory_clock_mean_hz", "gpu.memory_clock_hz", Reduction::mean, "Hz"},
    GpuRule{"gpu.temperature_peak_celsius", "gpu.temperature_celsius", Reduction::maximum, "celsius"},
    GpuRule{"gpu.throttled_power_ratio", "gpu.throttled_power_ratio", Reduction::mean, "ratio"},
    GpuRule{"gpu.throttled_thermal_ratio", "gpu.throttled_thermal_ratio", Reduction::mean, "ratio"},
    GpuRule{"gpu.vram_peak_bytes", "gpu.vram_used_bytes", Reduction::maximum, "bytes"},
};

// One device's energy: from its counter if it has one, else from the first power sensor that covers the windows.
std::optional<Integral> energy_of(const SeriesIndex& index, std::span<const Window> windows) {
  for (const SampleSeries& series : index.of("gpu.energy_joules"))
    if (const auto energy = integrate_counter(series.samples, windows, kPowerSensorAccuracyRatio)) return energy;
  for (const SampleSeries& series : index.of("gpu.power_watts"))
    if (const auto energy = integrate(series.samples, windows, kPowerSensorAccuracyRatio)) return energy;
  return std::nullopt;
}

}  // namespace

trace::Metrics gpu_metrics(std::span<const trace::GpuEventRow> events, const trace::NameTable& names, const ObservedWork& work) {
  std::map<std::int64_t, SeriesIndex> devices;
  for (const trace::GpuEventRow& row : events)
    if (std::isfinite(row.value))
      devices[row.device].add(names.text(row.metric), names.text(row.source), {row.time_ns, row.value});
  trace::Metrics metrics;
  for (auto& [device, index] : devices) {
    index.finish();
    for (const GpuRule& rule : kGpuRules)
      if (const auto& sensors = index.of(rule.metric); !sensors.empty())
        add_reduced(rule.id, rule.unit, rule.reduction, sensors.front(), work, device, metrics);
    if (const auto energy = energy_of(index, work.windows)) add_energy_metrics("energy.gpu_", *energy, work, device, metrics);
  }
  return metrics;
}

}  // namespace aaco::analytics::metrics
