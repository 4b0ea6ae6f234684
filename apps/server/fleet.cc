#include "server/handlers.h"
#include "workflows/fleet_view.h"

namespace aaco::server {
namespace {

constexpr std::int64_t kFallbackHours = 24;

std::int64_t hours_of(const Call& call) { return call.whole("hours").value_or(kFallbackHours); }

}  // namespace

core::Result<Response> get_fleet(const Call& call, const Site& site) {
  AACO_ASSIGN(const core::Json answer, site.fleet->overview(hours_of(call)));
  return json_response(answer);
}

core::Result<Response> get_fleet_heat(const Call& call, const Site& site) {
  AACO_ASSIGN(const core::Json answer, site.fleet->heat(call.text("metric"), hours_of(call)));
  return json_response(answer);
}

core::Result<Response> get_fleet_node(const Call& call, const Site& site) {
  AACO_ASSIGN(const core::Json answer, site.fleet->node(call.path.at("node"), hours_of(call)));
  return json_response(answer);
}

}  // namespace aaco::server
