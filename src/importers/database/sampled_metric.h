#pragma once

#include <string>
#include <string_view>

namespace aaco::importers {

// A metric that a profiler sampled, as a name with its unit ("gpu.sms_active_ratio") and what values are multiplied with to be in
// that unit. Without a unit the name has none either, and values stay as they are.
struct SampledMetric {
  std::string name;
  double factor = 1;
  bool operator==(const SampledMetric&) const = default;
};
// `prefix` is "gpu." or "host."; a unit as profilers write it: "%", "Throughput %", "MHz", "W", "deg C".
SampledMetric sampled_metric(std::string_view prefix, std::string_view name, std::string_view unit);
// The same of a name that ends with its unit: "SMs Active [Throughput %]".
SampledMetric sampled_metric(std::string_view prefix, std::string_view name);

}  // namespace aaco::importers
