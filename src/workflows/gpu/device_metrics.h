#pragma once

#include <cstdint>

#include "analytics/attribution.h"
#include "analytics/queue_depth.h"
#include "analytics/trace_time.h"
#include "trace/metric.h"

namespace aaco::workflows {

// What is measured of one device of a trace.
struct MeasuredDevice {
  std::int64_t number = 0;  // that its metrics carry
  const analytics::trace_time::DeviceTime& time;
  const analytics::trace_time::QueueDepth& queue;
  const analytics::attribution::Coverage& coverage;
  std::int64_t known_family_ns = 0;  // kernel time with a family other than "other"
  bool has_api_calls = false;
  std::int64_t node_runs = 0;  // iterations of its rank times the graph's nodes; 0: there is no graph, or no iteration
};

trace::Metrics metrics_of(const MeasuredDevice& device);

}  // namespace aaco::workflows
