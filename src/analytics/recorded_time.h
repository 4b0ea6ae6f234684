#pragma once

#include <string_view>
#include <vector>

#include "analytics/regression.h"

namespace aaco::analytics::regression {

// The run time of a recorded program without its waits for a CPU, where the scheduler's events tell it.
inline constexpr std::string_view kRecordedOwn = "process.run_time_without_cpu_waits_ns";

// What shares the decision with the run time of recordings: kRecordedOwn where it is among `metrics`, else kRecordedCpu. Load
// that makes the run time scatter hardly moves these.
template <class Metric>
std::string_view beside_run_time(const std::vector<Metric>& metrics) {
  for (const Metric& one : metrics)
    if (one.id == kRecordedOwn) return kRecordedOwn;
  return kRecordedCpu;
}

}  // namespace aaco::analytics::regression
