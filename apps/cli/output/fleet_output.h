#pragma once

#include <string>

#include "workflows/fleet.h"
#include "workflows/fleet_compare.h"

namespace aaco::cli {

std::string fleet_status_text(const workflows::FleetReport& report);
// Nodes with findings, most severe first; each finding with its strongest evidence.
std::string fleet_health_text(const workflows::FleetReport& report, const std::string& node);
// One line per finding.
std::string fleet_outliers_text(const workflows::FleetReport& report);
std::string fleet_stragglers_text(const workflows::FleetReport& report, bool all);
std::string session_straggler_text(const workflows::SessionStraggler& straggler);
std::string fleet_jobs_text(const workflows::FleetReport& report);
std::string fleet_comparison_text(const workflows::FleetComparison& comparison);
std::string fleet_score_text(const laboratory::fleet::Score& score);

}  // namespace aaco::cli
