#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "workflows/gpu_analysis.h"

namespace aaco::workflows {

// The devices of each rank together, with the mean of its steps: number and time of the steps by rank.
std::vector<analytics::trace_time::RankTime> rank_times(const std::vector<GpuOfTrace>& gpus,
                                                        const std::map<std::int32_t, std::int64_t>& step_counts,
                                                        const std::map<std::int32_t, std::int64_t>& step_times_ns);

}  // namespace aaco::workflows
