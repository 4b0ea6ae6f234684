#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tracelake/fleet.h"

namespace aaco::tracelake::fleet {

// The query of FleetSource::node_means for one range and one column of its group, in DuckDB's dialect, without looking at single
// minutes: its columns are node, bin, mean and repeated. Where `repeated` is not 0 a row of the node came twice in the bin, and
// the mean counts it twice; a row that came again with another job is not noticed. Empty: bins that no whole number of parts of
// at most an hour fills.
std::optional<std::string> node_means_sql(std::string_view table, std::string_view column, const FleetCellsRange& range);

}  // namespace aaco::tracelake::fleet
