#include "workflows/gpu/rank_times.h"

#include <algorithm>

namespace aaco::workflows {

std::vector<analytics::trace_time::RankTime> rank_times(const std::vector<GpuOfTrace>& gpus,
                                                        const std::map<std::int32_t, std::int64_t>& step_counts,
                                                        const std::map<std::int32_t, std::int64_t>& step_times_ns) {
  std::map<std::int32_t, analytics::trace_time::RankTime> ranks;
  for (const GpuOfTrace& gpu : gpus) {
    auto& rank = ranks[gpu.rank];
    rank.rank = gpu.rank;
    rank.span_ns = std::max(rank.span_ns, gpu.time.span_ns);
    rank.compute_ns += gpu.time.compute_ns;
    rank.collective_count += gpu.time.collective_count;
    rank.collective_sum_ns += gpu.time.collective_sum_ns;
    rank.exposed_collective_ns += gpu.time.exposed_collective_ns;
    rank.idle_ns += gpu.time.idle_ns;
  }
  std::vector<analytics::trace_time::RankTime> list;
  for (auto& [number, rank] : ranks) {
    const auto count = step_counts.find(number), time = step_times_ns.find(number);
    if (count != step_counts.end() && time != step_times_ns.end() && count->second > 0)
      rank.step_mean_ns = static_cast<double>(time->second) / static_cast<double>(count->second);
    list.push_back(rank);
  }
  return list;
}

}  // namespace aaco::workflows
