#pragma once

#include <memory>

#include "collectors/collector.h"
#include "core/clock.h"

namespace aaco::collectors::clock {

// What the clocks of the CPUs do while something runs: present clock of each CPU, thermal throttle events and temperature at
// 10 Hz (5 Hz above 64 CPUs), the limit of the policy and boost at 1 Hz. Clocks of GPUs come from their own collectors.
std::unique_ptr<Collector> make_collector(std::unique_ptr<core::Clock> clock = std::make_unique<core::SystemClock>());

}  // namespace aaco::collectors::clock
