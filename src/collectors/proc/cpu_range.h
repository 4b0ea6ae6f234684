#pragma once

#include "collectors/collector.h"

namespace aaco::collectors::proc {

// CPUs of the machine that are online: no rate of CPU time is higher. 0: unknown.
double online_cpus(const SysRoot& root);

// Whether so many cores can have been used. Readings of CPU time and clock are some microseconds apart.
inline constexpr double kCpuTolerance = 1.05;
inline bool is_possible(double cores, double online) { return !(online > 0) || cores <= kCpuTolerance * online; }

}  // namespace aaco::collectors::proc
