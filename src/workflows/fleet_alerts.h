#pragma once

#include <string>

#include "core/json.h"
#include "core/result.h"
#include "workflows/fleet.h"

namespace aaco::workflows {

// Findings and stragglers as a list of alerts for Alertmanager (API v2, POST /api/v2/alerts); silenced findings are left out.
// What is over has an end; `active_only` leaves it out. `link` is the address of a dashboard with the fleet, or empty.
core::Json fleet_alerts_json(const FleetReport& report, bool active_only, const std::string& link);

// Sends them to an Alertmanager ("http://host:9093"). Fails with io where it cannot be reached, with invalid_input where it
// refuses.
core::Status send_fleet_alerts(const core::Json& alerts, const std::string& url);

}  // namespace aaco::workflows
