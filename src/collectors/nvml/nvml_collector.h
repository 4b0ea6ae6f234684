#pragma once

#include <memory>
#include <string>

#include "collectors/collector.h"
#include "core/clock.h"

namespace aaco::collectors::nvml {

// Telemetry of NVIDIA GPUs through NVML, opened at run time. Devices are numbered behind the machine's AMD devices, in NVML's
// order (by PCI address). Rates: activity, power, energy, clocks, temperature and throttling at 20 Hz; memory, limits, links and
// error counts at 1 Hz. PCIe throughput is not read: NVML counts it while the caller waits for 20 ms.
std::unique_ptr<Collector> make_collector(std::string library = "libnvidia-ml.so.1",
                                          std::unique_ptr<core::Clock> clock = std::make_unique<core::SystemClock>());

}  // namespace aaco::collectors::nvml
