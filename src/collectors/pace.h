#pragma once

#include <cstdint>

#include "core/units.h"

namespace aaco::collectors {

// Of one core, for the sampling thread. Where no core is free, each sample preempts a thread that computes, and the others wait
// for it: a run pays about what the thread uses.
inline constexpr double kMaxSamplingShare = 0.005;
inline constexpr std::int64_t kMaxStretch = 5;  // of the period

// The period at which a thread that used `cpu` for `samples` samples stays within its share: the asked one where it does.
core::Nanoseconds affordable_period(core::Nanoseconds asked, core::Nanoseconds cpu, std::int64_t samples);

}  // namespace aaco::collectors
