#pragma once

#include <algorithm>
#include <cstdint>
#include <set>

#include "analytics/attribution.h"
#include "analytics/gaps.h"
#include "analytics/queue_depth.h"
#include "analytics/trace_time.h"
#include "trace/names.h"
#include "workflows/gpu/copy_kinds.h"

namespace aaco::workflows {

// What the walk over a trace knows of one device.
struct DeviceState {
  analytics::trace_time::DeviceTimeFold fold;
  analytics::trace_time::QueueDepthFold queue = {};
  analytics::gaps::GapSums gaps = {};
  CopyKinds copies = {};
  trace::NameId last_name = {};  // of the work that ended last
  std::int64_t last_end_ns = INT64_MIN, busy_since_ns = INT64_MIN;
  std::int64_t repeated_kernels = 0;
  std::int64_t early_kernels = 0, earliest_ns = 0;  // that start before the call that launched them; the longest lead
  bool has_kernels = false;                         // at least one so far
  std::set<std::int32_t> ranks;                     // whose work it runs

  // Older traces have whole microseconds.
  static constexpr std::int64_t kRoundingNs = 1'000;
  void note_kernel(std::int64_t start_ns, std::int64_t end_ns, const analytics::attribution::Launch& launch) {
    if (end_ns >= start_ns) queue.add(std::min(launch.end_ns, start_ns), end_ns);
    const std::int64_t lead_ns = launch.start_ns - start_ns;
    if (lead_ns <= kRoundingNs) return;
    ++early_kernels;
    earliest_ns = std::max(earliest_ns, lead_ns);
  }
};

}  // namespace aaco::workflows
