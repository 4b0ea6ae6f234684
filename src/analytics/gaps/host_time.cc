#include <algorithm>

#include "analytics/gap_causes.h"
#include "analytics/gaps/host_sweep.h"

namespace aaco::analytics::gaps {

void sort_frames(std::vector<HostFrame>& frames) {
  const auto outer_first = [](const HostFrame& a, const HostFrame& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  };
  if (!std::is_sorted(frames.begin(), frames.end(), outer_first)) std::stable_sort(frames.begin(), frames.end(), outer_first);
}

std::vector<HostShare> host_time(std::span<const HostFrame> frames, std::int64_t from_ns, std::int64_t until_ns,
                                 CauseIndex idle) {
  if (until_ns <= from_ns) return {};
  HostSweep sweep(from_ns, until_ns, idle);
  for (const HostFrame& frame : frames) {
    if (frame.start_ns >= until_ns) break;
    if (frame.end_ns > from_ns) sweep.open(frame);
  }
  sweep.move_to(until_ns);
  return sweep.take();
}

}  // namespace aaco::analytics::gaps
