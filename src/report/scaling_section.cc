#include "report/scaling_section.h"

namespace aaco::report {
namespace {

using core::Json;

void set_value(Json& out, const std::string& key, const std::optional<Scaling::Value>& value, const std::string& unit) {
  if (!value) return;
  out.set(key + unit, value->value);
  if (value->ci95) out.set(key + "_low" + unit, value->ci95->low).set(key + "_high" + unit, value->ci95->high);
}

Json to_json(const Scaling::Point& point) {
  Json out = Json::object({{"label", point.label}});
  out.set_if("session_id", point.session_id).set_if("error", point.error).set_if("backend", point.backend);
  out.set_if("batch", point.batch).set_if("threads", point.threads);
  Json dimensions = Json::object();
  for (const auto& [name, size] : point.dimensions) dimensions.set(name, size);
  if (!point.dimensions.empty()) out.set("dimensions", std::move(dimensions));
  set_value(out, "median", point.median_ns, "_ns");
  set_value(out, "p90", point.p90_ns, "_ns");
  set_value(out, "items_per_second", point.items_per_second, "");
  return out.set_if("relative_ratio", point.relative_ratio);
}

}  // namespace

Json to_json(const Scaling& section) {
  Json summary = Json::object(), points = Json::array();
  if (!section.summary.text.empty()) summary.set("text", section.summary.text).set("confidence", section.summary.confidence);
  for (const Scaling::Point& point : section.points) points.push(to_json(point));
  return Json::object({{"summary", std::move(summary)}, {"points", std::move(points)}});
}

}  // namespace aaco::report
