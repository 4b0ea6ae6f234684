#pragma once

#include <memory>

#include "collectors/collector.h"
#include "core/clock.h"

namespace aaco::collectors::proc {

// Telemetry of the host and of the process tree under test, from /proc, cgroup, powercap and resctrl files. Rates, whatever the
// period of the loop: CPU use of the tree at every sample; its run-queue wait at 50 Hz; its resident memory and faults at 20 Hz;
// CPU use by core, pressure, cgroup, energy, memory bandwidth at 10 Hz; memory of the machine, context switches, new processes at
// 5 Hz; paging at 2 Hz; load at 1 Hz.
std::unique_ptr<Collector> make_collector(std::unique_ptr<core::Clock> clock = std::make_unique<core::SystemClock>());

}  // namespace aaco::collectors::proc
