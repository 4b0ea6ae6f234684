#pragma once

#include <string>
#include <string_view>

#include "tracelake/engine.h"
#include "tracelake/fleet.h"

namespace aaco::tracelake {

// Whether the engine adds up minutes to slots of trace::kFleetSlotNs (table fleet_slots) as they arrive.
core::Result<bool> has_fleet_slots(const RemoteServer& server);
// As fleet_cells_sql, from slots. Bins are whole numbers of slots. Right for nodes no row of which was sent twice.
std::string fleet_slot_cells_sql(std::string_view table, const FleetCellsRange& range);
// The others: nodes a slot of which has a minute more than once.
std::string fleet_repeated_nodes_sql(std::string_view table, const FleetCellsRange& range);

}  // namespace aaco::tracelake
