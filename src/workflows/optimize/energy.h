#pragma once

#include <cstdint>
#include <vector>

#include "collectors/cpu_energy.h"
#include "core/result.h"
#include "workflows/optimize/trial_process.h"

namespace aaco::workflows {

// Of one side, before the other has its turn: the counters advance every millisecond.
inline constexpr double kEnergyBlockNs = 200e6;

// Makes `calls` calls and answers them; adds the energy per item (J) that the processor used meanwhile, idle power included, to
// `blocks`. Fails with unsupported where the counter stood still.
core::Result<std::vector<runner::TimedCall>> run_metered(TrialProcess& process, std::int64_t calls, std::int64_t timeout_ns,
                                                         collectors::CpuEnergy& meter, std::vector<std::vector<double>>& blocks);

}  // namespace aaco::workflows
