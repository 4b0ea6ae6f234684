#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analytics/rank_skew.h"
#include "analytics/trace_time.h"

namespace aaco::workflows {

using RankTimes = std::map<std::int32_t, analytics::trace_time::RankTime>;  // by rank

void add_device(RankTimes& ranks, std::int32_t rank, const analytics::trace_time::DeviceTime& time);
// With the mean of each rank's steps: their number and time by rank.
std::vector<analytics::trace_time::RankTime> with_steps(RankTimes ranks, const std::map<std::int32_t, std::int64_t>& step_counts,
                                                        const std::map<std::int32_t, std::int64_t>& step_times_ns);

}  // namespace aaco::workflows
