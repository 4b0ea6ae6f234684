#pragma once

#include "analytics/gap_causes.h"

namespace aaco::workflows {

// Whether a cause of idle time is something that the host does and could leave: no dispatch, no launching, no silence.
inline bool is_activity(const analytics::gaps::NamedCause& cause) {
  return !cause.weak && (cause.class_id == "host" || cause.class_id == "warmup") && cause.id != "blocked-launch" &&
         cause.id != "queue-full";
}

}  // namespace aaco::workflows
