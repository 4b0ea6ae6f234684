#include "core/clock.h"
#include "core/files.h"
#include "report/render.h"
#include "server/handlers.h"
#include "workflows/baseline.h"
#include "workflows/compare_models.h"
#include "workflows/envelope.h"
#include "workflows/envelope_json.h"
#include "workflows/hardware.h"
#include "workflows/session_report.h"

namespace aaco::server {
namespace {

using core::Json;

constexpr std::size_t kMaxPredictions = 64;  // models times devices of one request

core::Result<workflows::EnvelopeOutcome> envelopes_of(const Call& call, const Site& site, workflows::EnvelopeRequest& request) {
  request.device = call.text("device");
  if (const auto last = call.whole("last")) request.last = static_cast<std::size_t>(*last);
  return workflows::fit_envelopes(request, site.services);
}

// Clients name models; what would be read from a file of the server is refused.
core::Status check_model_name(const std::string& name) {
  if (name.empty() || name.front() == '-' || name.find_first_of("/\\#") != std::string::npos || core::exists(name))
    return core::fail(core::ErrorCode::invalid_argument,
                      "invalid value for 'model': expected a name of configs/models.yaml or zoo:NAME");
  return {};
}

}  // namespace

core::Result<Response> get_hardware(const Call& call, const Site& site) {
  AACO_ASSIGN(const auto lines, workflows::list_devices(call.text("kind"), site.services));
  Json devices = Json::array();
  for (const auto& line : lines) devices.push(to_json(line.device).set("own", line.own));
  return json_response(Json::object({{"schema_version", 1}, {"devices", std::move(devices)}}));
}

core::Result<Response> get_device(const Call& call, const Site& site) {
  AACO_ASSIGN(const auto device, workflows::find_entry(call.path.at("device"), site.services));
  return json_response(Json::object({{"schema_version", 1}, {"device", to_json(device)}}));
}

core::Result<Response> get_roofline(const Call& call, const Site& site) {
  workflows::EnvelopeRequest request;
  AACO_ASSIGN(const auto outcome, envelopes_of(call, site, request));
  return json_response(to_json(outcome, request));
}

core::Result<Response> get_roofline_page(const Call& call, const Site& site) {
  workflows::EnvelopeRequest request;
  AACO_ASSIGN(const auto outcome, envelopes_of(call, site, request));
  if (outcome.devices.size() != 1)
    return core::fail(core::ErrorCode::invalid_argument,
                      "a roofline shows one device, but the sessions ran on " + std::to_string(outcome.devices.size()),
                      "select one with 'device'");
  AACO_ASSIGN(std::string page,
              workflows::render_page(workflows::envelope_report(outcome.devices.front(), request), site.services.paths));
  return page_response(std::move(page));
}

core::Result<Response> get_predictions(const Call& call, const Site& site) {
  workflows::CompareModelsRequest request;
  request.base.conditions.as_written = false;
  request.models = call.all("model");
  request.hardware = call.all("hardware");
  for (const std::string& name : request.models) AACO_TRY(check_model_name(name));
  if (request.models.size() * request.hardware.size() > kMaxPredictions)
    return core::fail(core::ErrorCode::invalid_argument,
                      "more than " + std::to_string(kMaxPredictions) + " pairs of a model and a device");
  request.base.model.batch = call.whole("batch");
  request.base.conditions.dtype = call.text("dtype");
  AACO_ASSIGN(const auto points, workflows::compare_models(request, site.services));
  return json_response(workflows::comparison_json(points, request));
}

core::Result<Response> get_baselines(const Call&, const Site& site) {
  AACO_ASSIGN(const auto entries, workflows::list_baselines(site.services));
  const std::int64_t now_ns = core::SystemClock().now_ns(core::ClockId::realtime);
  Json all = Json::array();
  for (const auto& entry : entries)
    all.push(entry.baseline ? workflows::to_json(*entry.baseline, now_ns).set("path", entry.path)
                            : Json::object({{"path", entry.path}, {"error", entry.baseline.error().message}}));
  return json_response(Json::object(
      {{"schema_version", 1}, {"folder", workflows::baseline_folder(site.services)}, {"baselines", std::move(all)}}));
}

}  // namespace aaco::server
