#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/environment.h"
#include "core/json.h"
#include "core/result.h"
#include "workflows/session/loaded_session.h"

namespace aaco::workflows {

// When a device worked, on the clock of its host's events.
struct DeviceWindow {
  std::int32_t rank = 0;
  std::int64_t first_ns = 0, last_ns = 0;
};

// What the host of a rank did within the steps of a trace, but before the device's first work and after its last: time that no
// gap of the device covers. Entries like outcome.gpu.gpus[].idle_causes (cause, class, title, remedy, gap_count 0, idle_ns),
// activities only. Empty without steps, and where that time is a small part of them.
core::Result<std::vector<core::Json>> host_outside(LoadedSession& loaded, const DeviceWindow& device, const core::Paths& paths);

// `causes` with `more` added to those of the same id, the largest first.
core::Json with_causes(const core::Json& causes, const std::vector<core::Json>& more);

}  // namespace aaco::workflows
