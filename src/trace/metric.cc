#include "trace/metric.h"

#include <cmath>

namespace aaco::trace {
namespace {

core::Json number(double value) {
  if (value == std::trunc(value) && std::abs(value) < 9.0e15) return static_cast<long long>(value);
  return value;
}

core::Json one(const MetricValue& metric) {
  core::Json out = core::Json::object({{"value", number(metric.value)}, {"unit", metric.unit}});
  if (metric.ci95 && std::isfinite(metric.ci95->low) && std::isfinite(metric.ci95->high))
    out.set("ci95", core::Json::array({number(metric.ci95->low), number(metric.ci95->high)}));
  if (metric.device) out.set("device", *metric.device);
  return out;
}

core::Result<MetricValue> parse_one(const std::string& id, const core::Json& document) {
  const auto value = document["value"].as_f64();
  if (!value) return core::fail(core::ErrorCode::invalid_input, "the metric " + id + " has no value");
  MetricValue metric{id, *value, std::string(document["unit"].text()), std::nullopt, document["device"].as_i64()};
  if (document.contains("device") && !metric.device)
    return core::fail(core::ErrorCode::invalid_input, "the device of the metric " + id + " is not an integer");
  if (document.contains("ci95")) {
    const auto& bounds = document["ci95"].items();
    const auto low = bounds.size() == 2 ? bounds[0].as_f64() : std::nullopt;
    const auto high = bounds.size() == 2 ? bounds[1].as_f64() : std::nullopt;
    if (!low || !high)
      return core::fail(core::ErrorCode::invalid_input, "the ci95 of the metric " + id + " is not a pair of numbers");
    metric.ci95 = Interval{*low, *high};
  }
  return metric;
}

}  // namespace

const MetricValue* find_metric(const Metrics& metrics, std::string_view id, std::optional<std::int64_t> device) {
  for (const MetricValue& metric : metrics)
    if (metric.id == id && (!device || metric.device == device)) return &metric;
  return nullptr;
}

core::Json to_json(const Metrics& metrics) {
  core::Json out = core::Json::object();
  for (const MetricValue& metric : metrics) {
    if (!std::isfinite(metric.value)) continue;
    const core::Json& present = out[metric.id];
    if (present.is_null()) {
      out.set(metric.id, one(metric));
    } else {
      core::Json list = present.is_array() ? present : core::Json::array({present});
      list.push(one(metric));
      out.set(metric.id, std::move(list));
    }
  }
  return out;
}

core::Result<Metrics> metrics_from_json(const core::Json& document) {
  if (!document.is_object())
    return core::fail(core::ErrorCode::invalid_input, "metrics must be an object that maps ids to values");
  Metrics metrics;
  for (const auto& [id, value] : document.members()) {
    const core::Json list = value.is_array() ? value : core::Json::array({value});
    for (const core::Json& item : list.items()) {
      AACO_ASSIGN(MetricValue metric, parse_one(id, item));
      metrics.push_back(std::move(metric));
    }
  }
  return metrics;
}

}  // namespace aaco::trace
