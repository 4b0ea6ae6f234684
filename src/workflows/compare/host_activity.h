#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "analytics/gap_causes.h"

namespace aaco::workflows {

// Whether a cause of idle time is something that the host does or waits for and could leave: no dispatch, no launching, no
// silence.
inline bool is_activity(const analytics::gaps::NamedCause& cause) {
  constexpr std::array<std::string_view, 5> kLaunching = {"framework", "python", "blocked-launch", "queue-full", "unknown"};
  return (cause.class_id == "host" || cause.class_id == "warmup") &&
         std::find(kLaunching.begin(), kLaunching.end(), cause.id) == kLaunching.end();
}

}  // namespace aaco::workflows
