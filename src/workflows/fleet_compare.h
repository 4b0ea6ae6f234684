#pragma once

#include <string>
#include <vector>

#include "analytics/fleet_compare.h"
#include "core/json.h"
#include "workflows/fleet.h"

namespace aaco::workflows {

struct FleetComparison {
  std::string from, a, b;
  std::int64_t first_unix_ns = 0, until_unix_ns = 0;
  std::vector<analytics::fleet::MetricComparison> metrics;
};
// Two parts of a fleet, such as nodes, jobs, models, or the time before and after a change. Fails if a side has no rows.
core::Result<FleetComparison> compare_fleet(const FleetRequest& request, const std::string& a, const std::string& b,
                                            const Services& services);
core::Json to_json(const FleetComparison& comparison);

}  // namespace aaco::workflows
