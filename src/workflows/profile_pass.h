#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/result.h"
#include "runner/backend.h"
#include "trace/account.h"
#include "trace/session.h"
#include "trace/sink.h"
#include "workflows/services.h"

namespace aaco::workflows {

struct ProfilePass {
  std::int64_t iterations = 0;
  double median_ns = 0;  // of its iterations, timed from outside like the measured ones
};

// Runs a backend that was opened with its profiler on, a bounded number of times, and imports what the profiler wrote: node
// executions and their iterations, on the monotonic clock. Disturbs, so it is a pass of its own, after the measurement.
core::Result<ProfilePass> profile_pass(runner::Backend& backend, double expected_call_ns, double budget_ns,
                                       const std::function<void()>& before_call, trace::Sink& sink,
                                       trace::SessionManifest& manifest, const Services& services);

}  // namespace aaco::workflows
