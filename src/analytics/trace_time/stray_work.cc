#include "analytics/stray_work.h"

#include <algorithm>

namespace aaco::analytics::trace_time {

std::optional<StrayWork> stray_work(const DeviceTime& time) {
  const std::int64_t before = time.work_before_longest_idle, behind = time.work_count - before;
  const std::int64_t few = std::min(before, behind);
  if (time.work_count < 3 || time.longest_idle_ns < kStrayIdleNs ||
      few > std::max<std::int64_t>(1, time.work_count / kStrayOneIn) ||
      static_cast<double>(time.longest_idle_ns) < kStrayIdleShare * static_cast<double>(time.span_ns))
    return std::nullopt;
  return StrayWork{few, time.work_count, time.longest_idle_ns, before <= behind};
}

}  // namespace aaco::analytics::trace_time
