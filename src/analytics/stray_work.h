#pragma once

#include <cstdint>
#include <optional>

#include "analytics/trace_time.h"

namespace aaco::analytics::trace_time {

inline constexpr std::int64_t kStrayIdleNs = 10'000'000'000;  // compiling and loading take less between kernels (our judgement)
inline constexpr double kStrayIdleShare = 0.9;                // of the span
inline constexpr std::int64_t kStrayOneIn = 100;              // at most one piece in so many is stray

// A few pieces of work far from all others: a wrong time stamp, a clock that was set, or start-up work long before the work that
// counts. The span of the device and every ratio of it cover both.
struct StrayWork {
  std::int64_t count = 0, work_count = 0;  // stray pieces, all pieces
  std::int64_t idle_ns = 0;                // between them and the others
  bool before = true;                      // the others; else after
  bool operator==(const StrayWork&) const = default;
};
std::optional<StrayWork> stray_work(const DeviceTime& time);

}  // namespace aaco::analytics::trace_time
