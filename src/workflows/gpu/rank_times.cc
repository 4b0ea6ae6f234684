#include "workflows/gpu/rank_times.h"

#include <algorithm>

namespace aaco::workflows {

void add_device(RankTimes& ranks, std::int32_t number, const analytics::trace_time::DeviceTime& time) {
  auto& rank = ranks[number];
  rank.rank = number;
  rank.span_ns = std::max(rank.span_ns, time.span_ns);
  rank.compute_ns += time.compute_ns;
  rank.collective_count += time.collective_count;
  rank.collective_sum_ns += time.collective_sum_ns;
  rank.exposed_collective_ns += time.exposed_collective_ns;
  rank.idle_ns += time.idle_ns;
}

std::vector<analytics::trace_time::RankTime> with_steps(RankTimes ranks, const std::map<std::int32_t, std::int64_t>& step_counts,
                                                        const std::map<std::int32_t, std::int64_t>& step_times_ns) {
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
