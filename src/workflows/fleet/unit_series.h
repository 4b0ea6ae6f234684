#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "trace/fleet.h"

namespace aaco::workflows {

// One value per bin; empty: not measured.
using FleetSeries = std::vector<std::optional<double>>;

// With four significant digits and null for what was not measured.
core::Json series_json(const FleetSeries& series);
// Every measured column of a node's units: {metric, device?, job?, values}.
std::vector<core::Json> unit_series_json(const trace::FleetCells& cells, trace::FleetGroup group, const std::string& node);

}  // namespace aaco::workflows
