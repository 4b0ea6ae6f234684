#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tracelake/engine.h"
#include "tracelake/fleet.h"

namespace aaco::tracelake {

// Tables of minutes that the engine adds up as they arrive, for each node, unit and job. The columns of
// docs/formats/clickhouse.md.
struct FleetSlots {
  std::string_view table;
  std::int64_t slot_ns;  // at most 60 minutes: each has a bit
};
inline constexpr std::array<FleetSlots, 2> kFleetSlots = {
    {{"fleet_hours", std::int64_t{3600} * 1'000'000'000}, {"fleet_slots", trace::kFleetSlotNs}}};

// Creates those that are missing, with what the minutes that are there already add up to. The table of minutes must be there.
core::Status prepare_fleet_slots(const RemoteServer& server);
// Whether the engine has all of them.
core::Result<bool> has_fleet_slots(const RemoteServer& server);
// As fleet_cells_sql, from slots. Bins are whole numbers of slots. Right for nodes no row of which was sent twice.
std::string fleet_slot_cells_sql(std::string_view table, const FleetCellsRange& range);
// Columns node, bin, mean of the column over the node's units.
std::string fleet_slot_means_sql(std::string_view table, const FleetCellsRange& range, std::size_t column);
// The others: nodes a slot of which has a minute more than once.
std::string fleet_repeated_nodes_sql(std::string_view table, const FleetCellsRange& range);

}  // namespace aaco::tracelake
