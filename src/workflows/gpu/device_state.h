#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analytics/attribution.h"
#include "analytics/gaps.h"
#include "analytics/host_offset.h"
#include "analytics/queue_depth.h"
#include "analytics/trace_time.h"
#include "trace/names.h"
#include "workflows/gpu/copy_kinds.h"
#include "workflows/gpu/recent_work.h"

namespace aaco::workflows {

using DeviceKey = std::pair<std::int32_t, std::int64_t>;  // rank, device

// What the walk over a trace knows of one device.
struct DeviceState {
  explicit DeviceState(analytics::trace_time::Convention convention) : fold(convention), copies(convention) {}
  analytics::trace_time::DeviceTimeFold fold;
  analytics::trace_time::QueueDepthFold queue = {};
  analytics::gaps::GapSums gaps = {};
  CopyKinds copies;
  RecentWork recent = {};
  trace::NameId last_name = {};  // of the work that ended last
  std::int64_t last_end_ns = INT64_MIN, busy_since_ns = INT64_MIN;
  std::int64_t repeated_kernels = 0;
  std::int64_t early_kernels = 0, earliest_ns = 0;  // that start before the call that launched them; the longest lead
  analytics::trace_time::HostOffset offset = {};    // of its clock
  std::int64_t gap_ns = 0, uncertain_gap_ns = 0;    // of it, in gaps shorter than the clocks are apart
  bool is_alone = true;                             // the only device of its rank
  bool has_kernels = false;                         // at least one so far
  std::set<std::int32_t> ranks;                     // whose work it runs

  void note_kernel(std::int64_t start_ns, std::int64_t end_ns, const analytics::attribution::Launch& launch) {
    if (end_ns >= start_ns) queue.add(std::min(launch.end_ns, start_ns), end_ns);
    const std::int64_t lead_ns = launch.start_ns - start_ns;
    if (lead_ns <= analytics::trace_time::kRoundingNs) return;
    ++early_kernels;
    earliest_ns = std::max(earliest_ns, lead_ns);
  }

  // The cause of a gap that is shorter than the clocks are apart is less sure.
  void note_gap(trace::GapRow& row) {
    constexpr double kMovedConfidence = 0.75;  // the proven offset is the least, not the true one (our own judgement)
    gap_ns += row.end_ns - row.start_ns;
    if (row.end_ns - row.start_ns >= offset.apart_ns()) return;
    row.confidence = std::min(row.confidence, kMovedConfidence);
    uncertain_gap_ns += row.end_ns - row.start_ns;
  }

  // Of its idle time, by gaps that are shorter than the clocks are apart.
  [[nodiscard]] double uncertain_idle_ratio() const {
    return gap_ns > 0 ? static_cast<double>(uncertain_gap_ns) / static_cast<double>(gap_ns) : 0;
  }

  // Where waits may have been for another device, only what runs before its launch counts.
  [[nodiscard]] std::int64_t host_offset_ns() const {
    const std::int64_t offset_ns = offset.offset_ns();
    return is_alone ? offset_ns : std::max<std::int64_t>(0, offset_ns);
  }

  // Of work in `stream` that ends a gap.
  [[nodiscard]] analytics::gaps::NextLaunch next_launch(const analytics::trace_time::StreamKey& stream,
                                                        const analytics::attribution::Launch& launch, bool is_copy, bool is_first,
                                                        const trace::NameTable& names) const {
    const auto after_ns = recent.launched(stream);
    return {.start_ns = launch.start_ns,
            .end_ns = launch.end_ns,
            .thread_id = launch.thread_id,
            .api = launch.api,
            .is_copy = is_copy,
            .is_graph = analytics::attribution::is_graph_launch(names.text(launch.api)),
            .is_first = is_first,
            .is_inner = after_ns == launch.start_ns,
            .after_ns = after_ns};
  }
};

inline std::optional<analytics::trace_time::LaunchSpan> span_of(const analytics::attribution::Launch* launch) {
  if (launch == nullptr) return std::nullopt;
  return analytics::trace_time::LaunchSpan{launch->start_ns, launch->end_ns};
}

// What another device of the process, busy for half of the gap, ended when the gap did.
inline std::optional<analytics::gaps::PeerWork> peer_of(const std::map<DeviceKey, DeviceState>& devices, const DeviceKey& key,
                                                        const analytics::gaps::Gap& gap) {
  std::optional<analytics::gaps::PeerWork> found;
  for (const auto& [other, state] : devices) {
    if (other.first != key.first || other.second == key.second || state.last_end_ns == INT64_MIN) continue;
    if (2 * (gap.end_ns - std::max(state.busy_since_ns, gap.start_ns)) < gap.end_ns - gap.start_ns) continue;
    const auto one = state.recent.ended_at(gap.end_ns);
    if (one && (!found || one->end_ns > found->end_ns)) found = one;
  }
  return found;
}

// The gap as the host's clock has it, where the device's is proven to be `offset_ns` behind.
inline analytics::gaps::Gap on_host_clock(analytics::gaps::Gap gap, std::int64_t offset_ns) {
  gap.start_ns += offset_ns;
  gap.end_ns += offset_ns;
  if (gap.busy_since_ns) *gap.busy_since_ns += offset_ns;
  if (gap.peer) gap.peer->start_ns += offset_ns, gap.peer->end_ns += offset_ns;
  return gap;
}

}  // namespace aaco::workflows
