#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

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

// Calls of the pass. The profiler makes calls slower by up to a hundred times (it writes a text for every node), so time is what
// its own calls are found to take; and the runtime keeps a million records, so calls are no more than these hold.
struct ProfileCalls {
  std::int64_t warmup = 0;
  std::int64_t least = 0;
  std::int64_t most = 0;
};
ProfileCalls profile_calls(std::size_t nodes);  // nodes of the model's file: the runtime executes that many, or fewer

// Imports what the profiler of a backend wrote, without its first calls, and removes the file: node executions and their
// iterations, on the monotonic clock.
core::Status import_profile(const runner::Backend::Profile& profile, std::int64_t warmup_calls, trace::Sink& sink,
                            trace::SessionManifest& manifest);

// Calls of a model with so many nodes that the runtime's profiler has room for.
std::int64_t profiled_calls_at_most(std::size_t nodes);

// Runs a backend that was opened with its profiler on until the budget is spent, and imports what the profiler wrote: node
// executions and their iterations, on the monotonic clock. Disturbs, so it is a pass of its own, after the measurement.
core::Result<ProfilePass> profile_pass(runner::Backend& backend, ProfileCalls calls, double budget_ns,
                                       const std::function<void()>& before_call, trace::Sink& sink,
                                       trace::SessionManifest& manifest, const Services& services);

}  // namespace aaco::workflows
