#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace aaco::trace {

struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

// A computed number under its published id (data/metrics). What was not measured has no value at all.
struct MetricValue {
  std::string id;  // "latency.p50_ns"
  double value = 0;
  std::string unit;  // "ns", "bytes", "ratio", "1/s", "count", "J", "W"
  std::optional<Interval> ci95;
  std::optional<std::int64_t> device;
  bool operator==(const MetricValue&) const = default;
};

using Metrics = std::vector<MetricValue>;

// The first value with this id (of this device, if one is given), or null.
const MetricValue* find_metric(const Metrics& metrics, std::string_view id, std::optional<std::int64_t> device = std::nullopt);

// {"id": {"value", "unit", "ci95"?}}; an id with values for several devices becomes a list of objects with "device".
// Counts and nanoseconds are written as integers where they are whole. A value that is not finite is no measurement and is left
// out.
core::Json to_json(const Metrics& metrics);
core::Result<Metrics> metrics_from_json(const core::Json& document);

}  // namespace aaco::trace
