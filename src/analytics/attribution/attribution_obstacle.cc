#include "analytics/attribution_obstacle.h"

#include <algorithm>

namespace aaco::analytics::attribution {

std::optional<Obstacle> why_not_attributed(const Coverage& coverage, const TraceHas& trace) {
  const bool enough = 2 * coverage.attributed_sum_ns >= coverage.kernel_sum_ns;
  if (enough && (trace.api_calls || coverage.attributed_count > 0)) return std::nullopt;
  if (!trace.api_calls)
    return Obstacle{"attribution.no_launches", "the trace has no API calls: kernels cannot be linked to their launches",
                    "also trace the runtime API (rocprofv3 --hip-trace, nsys --trace=cuda)"};
  constexpr std::string_view kLow = "attribution.low";
  if (coverage.replayed_sum_ns >= std::max(coverage.outside_sum_ns, coverage.unlaunched_sum_ns))
    return Obstacle{kLow, "graph launches hide the operators",
                    "also pass a trace of the graph capture (--capture), or profile in eager mode"};
  if (coverage.unlaunched_sum_ns > coverage.outside_sum_ns)
    return Obstacle{kLow, "most kernels have no launch in the trace",
                    "start the profiler before the workload, and trace the runtime API as well as the kernels"};
  if (!trace.causes)
    return Obstacle{kLow, "the trace has launches, but no operators or ranges around them",
                    "add ranges to the program (roctx or NVTX, rocprofv3 --marker-trace), or use the framework's profiler"};
  return Obstacle{kLow, "most kernels were launched outside any operator or range",
                  "add ranges (roctx, NVTX, record_function) around that code"};
}

}  // namespace aaco::analytics::attribution
