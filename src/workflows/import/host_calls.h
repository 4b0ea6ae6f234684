#pragma once

#include <cstdint>
#include <functional>

#include "analytics/levels.h"
#include "analytics/steps.h"
#include "core/result.h"
#include "trace/names.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// What the calls of a trace without device work say.
struct HostCalls {
  // Calls that launch kernels or graphs on a GPU: in a session without kernels the profiler did not see the work, so no time
  // of the GPU is known.
  std::int64_t launch_count = 0;
  bool has_operators = false;  // of a framework
  analytics::steps::Steps steps;
  trace::NameTable names;  // of the steps
};

// Reads them once, and makes the levels of the timeline on the way (none where the plan is empty). Flush before and after.
core::Result<HostCalls> read_host_calls(SessionDraft& draft, const analytics::levels::Plan& levels,
                                        const std::function<core::Status()>& go_on);

// Stores the steps of a framework's trace as iterations; where it has none, a warning says so. Does nothing to sessions without
// a framework's operators. Flush after.
core::Status store_host_steps(const HostCalls& calls, SessionDraft& draft);

}  // namespace aaco::workflows
