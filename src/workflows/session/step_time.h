#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::workflows {

// The iterations of a session as its times count them.
struct TimedIterations {
  std::vector<trace::IterationRow> rows;
  // Durations of the steps' own ranges, ns, where the rows of phase "step" go from start to start instead
  // (analytics/step_periods.h); else empty.
  std::vector<double> ranges_ns;
  [[nodiscard]] bool by_period() const { return !ranges_ns.empty(); }
};

// Steps that the device timed stay (workflows/gpu/device_steps.h), and so do the runs of a profile of nodes, which are calls, and
// steps in separate windows of recording, between which the time is not known. `gpu`: of the manifest's outcome.
TimedIterations timed_iterations(const std::string& session_path, const core::Json& gpu,
                                 std::span<const trace::IterationRow> rows, const trace::NameTable& names);

// Median of the steps' own ranges, beside the latency, which is of their period.
inline constexpr const char* kStepRange = "latency.step_range_p50_ns";

}  // namespace aaco::workflows
