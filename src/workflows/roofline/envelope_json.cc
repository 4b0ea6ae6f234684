#include "workflows/envelope_json.h"

namespace aaco::workflows {
namespace {

using core::Json;

Json roof_json(const EnvelopeRoof& roof) {
  const bool compute = roof.kind == report::Roof::Kind::compute;
  const auto& reached = roof.reached;
  Json out =
      Json::object({{"kind", compute ? "compute" : "memory"}, {"name", roof.name}, {"unit", compute ? "flop/s" : "bytes/s"}});
  if (roof.stated) out.set("stated", *roof.stated);
  if (roof.measured)
    out.set("measured",
            Json::object({{"value", roof.measured->per_second}, {"class", roof.measured->of}, {"sites", roof.measured->sites}}));
  if (reached.per_second) {
    Json value = Json::object({{"value", *reached.per_second}});
    if (reached.ci95) value.set("ci95", Json::object({{"low", reached.ci95->low}, {"high", reached.ci95->high}}));
    out.set("reached", std::move(value));
    if (roof.stated && *roof.stated > 0) out.set("of_stated_ratio", *reached.per_second / *roof.stated);
    if (roof.measured && roof.measured->per_second > 0)
      out.set("of_measured_ratio", *reached.per_second / roof.measured->per_second);
  } else {
    out.set("reason", reached.reason);
  }
  if (reached.highest > 0) out.set("highest", reached.highest);
  return out.set("run_count", reached.runs).set("point_count", reached.points).set("effective_points", reached.effective_points);
}

Json device_json(const DeviceEnvelope& device) {
  Json out = Json::object({{"device", device.id}, {"device_name", device.name}});
  if (device.threads > 0) out.set("threads", device.threads);
  out.set("fitted", device.fitted())
      .set("sessions", Json::texts(device.sessions))
      .set("workload_count", device.workloads)
      .set("point_count", device.all)
      .set("points_from_counters", device.counted);
  if (!device.calibration.empty()) out.set("calibration", device.calibration);
  if (device.fitted()) out.set("above_ratio", device.above_ratio);
  Json roofs = Json::array(), hulls = Json::object();
  for (const EnvelopeRoof& roof : device.roofs) roofs.push(roof_json(roof));
  for (const auto& hull : device.hulls) {
    Json corners = Json::array();
    for (const auto& corner : hull.corners)
      corners.push(Json::object({{"flops_per_byte", corner.intensity}, {"flops_per_s", corner.flops_per_s}}));
    hulls.set(hull.type, std::move(corners));
  }
  return out.set("roofs", std::move(roofs)).set("upper_hull", std::move(hulls)).set("notes", Json::texts(device.notes));
}

}  // namespace

Json to_json(const EnvelopeOutcome& outcome, const EnvelopeRequest& request) {
  Json devices = Json::array();
  for (const DeviceEnvelope& device : outcome.devices) devices.push(device_json(device));
  return Json::object({{"schema_version", 1},
                       {"quantile", request.options.quantile},
                       {"fitted", outcome.fitted()},
                       {"devices", std::move(devices)},
                       {"account", to_json(outcome.account)}});
}

}  // namespace aaco::workflows
