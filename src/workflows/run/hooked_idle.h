#pragma once

#include <functional>
#include <map>
#include <string>

#include "analytics/levels.h"
#include "core/json.h"
#include "core/result.h"
#include "trace/sink.h"
#include "workflows/services.h"

namespace aaco::workflows {

// Sums over the recorded calls that the program itself made: those that a runtime makes inside of one are not counted again.
struct HookedSums {
  std::int64_t calls = 0, launches = 0, syncs = 0, copies = 0;
  std::int64_t sync_ns = 0, copy_ns = 0, launch_ns = 0;
  std::int64_t copy_bytes = 0;
  std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;  // of all calls
  std::int64_t idle_ns = 0, gaps = 0;                      // of the devices, as far as known
  core::Json devices = core::Json::array();  // rank, device, known_idle_ns, gap_count, idle_causes as in the outcome of traces
};

// Reads the calls of a flushed bundle in time order, with the scheduler's events of their threads; gaps go to `sink`.
core::Result<HookedSums> read_hooked_calls(const std::string& session_path, bool with_gaps, trace::Sink& sink,
                                           const Services& services);

}  // namespace aaco::workflows
