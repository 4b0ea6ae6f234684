#pragma once

#include <memory>

#include "collectors/collector.h"
#include "core/clock.h"

namespace aaco::collectors::amdgpu {

// Telemetry of AMD GPUs from sysfs; needs no library and no root. Device numbers are those of hardware::find_amd_devices. Rates:
// the gpu_metrics table at 50 Hz; activity, memory, power, temperature and clocks at 20 Hz; the clocks of pp_dpm files at 5 Hz;
// links, error counts and limits at 1 Hz.
std::unique_ptr<Collector> make_collector(std::unique_ptr<core::Clock> clock = std::make_unique<core::SystemClock>());

}  // namespace aaco::collectors::amdgpu
