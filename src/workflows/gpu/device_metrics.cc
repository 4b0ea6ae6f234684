#include "workflows/gpu/device_metrics.h"

#include <iterator>
#include <utility>

namespace aaco::workflows {

trace::Metrics metrics_of(const MeasuredDevice& device) {
  trace::Metrics metrics = analytics::trace_time::device_metrics(device.time, device.number, device.has_api_calls);
  const auto append = [&](trace::Metrics more) {
    metrics.insert(metrics.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  const auto ratio = [&](const char* id, std::int64_t part, std::int64_t whole) {
    if (whole > 0) metrics.push_back({id, static_cast<double>(part) / static_cast<double>(whole), "ratio", {}, device.number});
  };
  append(analytics::trace_time::launch_metrics(device.time.launch, device.queue, device.number));
  append(analytics::attribution::coverage_metrics(device.coverage, device.number));
  ratio("fingerprint.time_coverage_ratio", device.known_family_ns, device.coverage.kernel_sum_ns);
  ratio("launch.kernel_amplification_ratio", device.time.kernel_count, device.node_runs);
  return metrics;
}

}  // namespace aaco::workflows
