#pragma once

#include <string>
#include <string_view>

namespace aaco::importers::nsys {

// A metric as Nsight Systems names it ("SMs Active [Throughput %]"), as a name with its unit and what values are multiplied with
// to be in it. Without a unit the name has none either, and values stay as they are.
struct GpuMetric {
  std::string name;  // "gpu.sms_active_ratio"
  double factor = 1;
  bool operator==(const GpuMetric&) const = default;
};
GpuMetric gpu_metric_of(std::string_view name);

}  // namespace aaco::importers::nsys
