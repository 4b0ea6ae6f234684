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
  int processes = 10;  // one after the other, each with its share of the time
};

// Runs two calibrated loops (arithmetic in registers; a pass over memory larger than the caches) in turn in short processes, and
// reads meanwhile what the kernel counts. The processes are forked from this one, which must have no threads. Ends early when
// `stop` is set, with what there is by then.
core::Result<analytics::noise::StabilitySample> measure(const Options& options, const std::atomic<bool>& stop,
                                                        const std::function<void(std::string_view)>& progress);

}  // namespace aaco::laboratory::stability
