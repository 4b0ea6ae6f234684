#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "analytics/stability.h"
#include "core/result.h"
#include "core/units.h"

namespace aaco::laboratory::stability {

struct Options {
  core::Nanoseconds duration{20'000'000'000};
  int processes = 10;  // run in sequence, each with an equal share of the time
};

// Runs two calibrated loops (register arithmetic; a pass over memory larger than the caches) alternately in short processes, and
// reads kernel counters meanwhile. The processes are forked from this one, which must have no threads. Stops early when
// `stop` is set, with partial results.
core::Result<analytics::noise::StabilitySample> measure(const Options& options, const std::atomic<bool>& stop,
                                                        const std::function<void(std::string_view)>& progress);

}  // namespace aaco::laboratory::stability
