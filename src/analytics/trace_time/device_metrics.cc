#include "analytics/trace_time.h"

namespace aaco::analytics::trace_time {
namespace {

class Publisher {
 public:
  explicit Publisher(std::int64_t device) : device_(device) {}
  void count(const char* id, std::int64_t value) { add(id, static_cast<double>(value), "count"); }
  void time(const char* id, std::int64_t value) { add(id, static_cast<double>(value), "ns"); }
  // Left out where there is nothing to divide by.
  std::optional<double> ratio(const char* id, std::int64_t part, std::int64_t whole) {
    if (whole <= 0) return std::nullopt;
    const double value = static_cast<double>(part) / static_cast<double>(whole);
    add(id, value, "ratio");
    return value;
  }
  void add(const char* id, double value, const char* unit) { metrics_.push_back({id, value, unit, {}, device_}); }
  trace::Metrics take() { return std::move(metrics_); }

 private:
  std::int64_t device_;
  trace::Metrics metrics_;
};

}  // namespace

trace::Metrics device_metrics(const DeviceTime& time, std::int64_t device, bool has_api_calls) {
  Publisher out(device);
  out.count("gpu.kernel_count", time.kernel_count);
  out.time("gpu.kernel_sum_ns", time.kernel_sum_ns);
  out.time("gpu.span_ns", time.span_ns);
  out.time("gpu.busy_ns", time.busy_ns);
  out.time("gpu.idle_ns", time.idle_ns);
  out.time("gpu.compute_ns", time.compute_ns);
  out.time("gpu.copy_sum_ns", time.copy_sum_ns);
  out.time("gpu.collective_sum_ns", time.collective_sum_ns);
  out.time("gpu.exposed_copy_ns", time.exposed_copy_ns);
  out.time("gpu.exposed_collective_ns", time.exposed_collective_ns);
  out.count("gpu.orphan_kernel_count", time.orphan_count);
  out.time("gpu.linked_kernel_sum_ns", time.linked_sum_ns);
  out.ratio("gpu.active_ratio", time.active_ns, time.span_ns);
  out.ratio("gpu.kernel_sum_ratio", time.kernel_sum_ns, time.span_ns);
  const auto micro = out.ratio("gpu.microkernel_ratio", time.microkernel_count, time.kernel_count);
  if (has_api_calls) out.ratio("launch.lost_time_ratio", time.launch_lost_ns, time.span_ns);
  if (time.span_ns > 0 && time.kernel_count > 0) {
    const double rate = static_cast<double>(time.kernel_count) / (static_cast<double>(time.span_ns) * 1e-9);
    out.add("launch.rate_per_second", rate, "1/s");
    if (micro) out.add("launch.tax", *micro * rate / 1000, "");
  }
  return out.take();
}

trace::Metrics launch_metrics(const LaunchSplit& split, const QueueDepth& queue, std::int64_t device) {
  Publisher out(device);
  if (split.kernel_count > 0) {
    const auto mean = [&](const char* id, std::int64_t sum) {
      out.add(id, static_cast<double>(sum) / static_cast<double>(split.kernel_count), "ns");
    };
    mean("launch.api_mean_ns", split.api_ns);
    mean("launch.queue_mean_ns", split.queue_ns);
    mean("launch.execution_mean_ns", split.execution_ns);
  }
  if (!queue.depth.empty()) {
    out.add("launch.queue_depth_mean", queue.mean, "");
    out.add("launch.queue_depth_peak", queue.peak, "");
  }
  return out.take();
}

}  // namespace aaco::analytics::trace_time
