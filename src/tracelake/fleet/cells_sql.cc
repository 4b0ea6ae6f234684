#include <fmt/format.h>

#include "tracelake/fleet.h"

namespace aaco::tracelake {

std::string fleet_cells_sql(SqlDialect dialect, std::string_view table, const FleetCellsRange& range) {
  const bool duckdb = dialect == SqlDialect::duckdb;
  const auto divided = [&](std::string_view what, std::int64_t by) {
    return duckdb ? fmt::format("({}) // {}", what, by) : fmt::format("intDiv({}, {})", what, by);
  };
  std::string means;
  std::string values;
  int place = 0;
  for (const trace::FleetColumn& column : trace::kFleetColumns) {
    if (column.group != range.group) continue;
    means += fmt::format(", avg(v{0}) AS m{0}", place);
    values += fmt::format(", max({}) AS v{}", column.name, place++);
  }
  const std::string delay = "received_unix_ns - minute_unix_ns";
  const std::string minute = divided("minute_unix_ns", 60'000'000'000);
  return fmt::format(
      "SELECT node, unit, max(model), work, max(place), bin, count(*), sum(copies), sum(is_late), avg(delay){} FROM ("
      "SELECT node, coalesce(device, -1) AS unit, max(hardware) AS model, max(coalesce(job, '')) AS work, max(coalesce(rank, "
      "-1)) AS "
      "place, {} AS minute, {} AS bin, count(*) AS copies, max(CASE WHEN {} > {} THEN 1 ELSE 0 END) AS is_late, min({}) AS "
      "delay{} "
      "FROM {} WHERE metric_group = '{}' AND minute_unix_ns >= {} AND minute_unix_ns < {}{} GROUP BY node, unit, minute, bin) AS "
      "minutes "
      "GROUP BY node, unit, work, bin ORDER BY node, unit, bin, work",
      means, minute, divided(fmt::format("minute_unix_ns - {}", range.origin_unix_ns), range.bin_ns), delay, trace::kFleetLateNs,
      delay, values, table, trace::kFleetGroupNames[static_cast<std::size_t>(range.group)], range.from_unix_ns, range.to_unix_ns,
      range.of_nodes.empty() ? "" : " AND " + range.of_nodes);
}

}  // namespace aaco::tracelake
