#include "tracelake/engine/slots.h"

#include <fmt/format.h>

#include "core/strings.h"
#include "trace/fleet.h"
#include "tracelake/engine/schema.h"

namespace aaco::tracelake {
namespace {

constexpr std::string_view kMinutes = "fleet_minutes";
constexpr std::int64_t kMinuteOfSlotNs = 60'000'000'000;
constexpr std::int64_t kDayOfSlotsNs = 24 * 60 * kMinuteOfSlotNs;

// Keys of a slot, and what it holds: states of aggregates, which merge when the rows of a slot come in several blocks.
// Each minute of a slot has one bit: where their sum is not their union, a row came more than once.
constexpr std::string_view kSlotKeys =
    "metric_group String, node String, unit Int64, work String, slot_unix_ns Int64, "
    "model AggregateFunction(max, String), place AggregateFunction(max, Int64), copies AggregateFunction(count), "
    "late AggregateFunction(sum, UInt64), bits_sum AggregateFunction(sum, UInt64), "
    "bits_union AggregateFunction(groupBitOr, UInt64), first AggregateFunction(min, Int64), last AggregateFunction(max, Int64)";

// A mean is kept as sum and number: states of avg of what may be NULL differ between versions of the engine.
std::string slot_columns() {
  const auto mean = [](std::string_view name) {
    return fmt::format(", {0}_sum AggregateFunction(sum, Float64), {0}_count AggregateFunction(sum, UInt64)", name);
  };
  std::string out = std::string(kSlotKeys) + mean("delay");
  for (const trace::FleetColumn& column : trace::kFleetColumns) out += mean(column.name);
  return out;
}

std::string mean_states(std::string_view name, std::string_view value) {
  return fmt::format(", sumState(toFloat64(coalesce({1}, 0))) AS {0}_sum, sumState(toUInt64(isNotNull({1}))) AS {0}_count", name,
                     value);
}

std::string merged_mean(std::string_view name) {
  return fmt::format("if(sumMerge({0}_count) = 0, NULL, sumMerge({0}_sum) / sumMerge({0}_count))", name);
}

std::string slots_of_minutes(const std::string& database, std::int64_t slot_ns) {
  std::string means = mean_states("delay", "received_unix_ns - minute_unix_ns");
  for (const trace::FleetColumn& column : trace::kFleetColumns) means += mean_states(column.name, column.name);
  const std::string bit = fmt::format("toUInt64(bitShiftLeft(1, intDiv(minute_unix_ns - slot_unix_ns, {})))", kMinuteOfSlotNs);
  return fmt::format(
      "SELECT metric_group, node, toInt64(coalesce(device, -1)) AS unit, coalesce(job, '') AS work, "
      "toInt64(intDiv(minute_unix_ns, {0}) * {0}) AS slot_unix_ns, maxState(coalesce(hardware, '')) AS model, "
      "maxState(toInt64(coalesce(rank, -1))) AS place, countState() AS copies, "
      "sumState(toUInt64(coalesce(received_unix_ns - minute_unix_ns > {1}, 0))) AS late, sumState({2}) AS bits_sum, "
      "groupBitOrState({2}) AS bits_union, minState(minute_unix_ns) AS first, maxState(minute_unix_ns) AS last{3} FROM "
      "{4}.rows_{5} "
      "GROUP BY metric_group, node, unit, work, slot_unix_ns",
      slot_ns, trace::kFleetLateNs, bit, means, database, kMinutes);
}

std::string slot_condition(const FleetCellsRange& range) {
  return fmt::format("metric_group = '{}' AND slot_unix_ns >= {} AND slot_unix_ns < {}{}",
                     trace::kFleetGroupNames[static_cast<std::size_t>(range.group)], range.from_unix_ns, range.to_unix_ns,
                     range.of_nodes.empty() ? "" : " AND " + range.of_nodes);
}

core::Result<bool> exists(const RemoteServer& server, const FleetSlots& slots) {
  AACO_ASSIGN(const std::string reply, server.run(fmt::format("EXISTS TABLE {}", slots.table)));
  return core::trim(reply) == "1";
}

// The view is made last: readers never see slots that lack rows of before. A row that comes meanwhile may be in its slot twice,
// as after an interruption, which readers notice.
core::Status prepare_slots(const RemoteServer& server, const FleetSlots& slots) {
  const RemoteTarget& target = server.target();
  AACO_ASSIGN(const bool there, exists(server, slots));
  if (there) return {};
  AACO_TRY(server.run_everywhere(
      fmt::format("CREATE TABLE IF NOT EXISTS rows_{} ({}) ENGINE = {} PARTITION BY intDiv(slot_unix_ns, {}) "
                  "ORDER BY (metric_group, node, unit, work, slot_unix_ns)",
                  slots.table, slot_columns(),
                  remote::engine_of(target, "AggregatingMergeTree", fmt::format("rows_{}", slots.table)), kDayOfSlotsNs)));
  const std::string rows = slots_of_minutes(target.database, slots.slot_ns);
  AACO_TRY(server.run_everywhere(
      fmt::format("CREATE MATERIALIZED VIEW IF NOT EXISTS feed_{0} TO {1}.rows_{0} AS {2}", slots.table, target.database, rows)));
  AACO_TRY(server.run_once_per_shard(fmt::format("INSERT INTO rows_{} {}", slots.table, rows)));
  return remote::show_whole(server, std::string(slots.table), "node");
}

}  // namespace

core::Status prepare_fleet_slots(const RemoteServer& server) {
  for (const FleetSlots& slots : kFleetSlots) AACO_TRY(prepare_slots(server, slots));
  return {};
}

core::Result<bool> has_fleet_slots(const RemoteServer& server) {
  for (const FleetSlots& slots : kFleetSlots) {
    AACO_ASSIGN(const bool there, exists(server, slots));
    if (!there) return false;
  }
  return true;
}

std::string fleet_slot_cells_sql(std::string_view table, const FleetCellsRange& range) {
  std::string means;
  int place = 0;
  for (const trace::FleetColumn& column : trace::kFleetColumns)
    if (column.group == range.group) means += fmt::format(", {} AS m{}", merged_mean(column.name), place++);
  return fmt::format(
      "SELECT node, unit, maxMerge(model), work, maxMerge(place), intDiv(slot_unix_ns - {}, {}) AS bin, countMerge(copies), "
      "countMerge(copies), sumMerge(late), {}{} FROM {} WHERE {} GROUP BY node, unit, work, bin "
      "ORDER BY node, unit, bin, work",
      range.origin_unix_ns, range.bin_ns, merged_mean("delay"), means, table, slot_condition(range));
}

std::string fleet_slot_means_sql(std::string_view table, const FleetCellsRange& range, std::size_t column) {
  return fmt::format(
      "SELECT node, bin, avg(mean) FROM (SELECT node, unit, work, intDiv(slot_unix_ns - {}, {}) AS bin, {} AS mean FROM {} WHERE "
      "{} "
      "GROUP BY node, unit, work, bin) WHERE isNotNull(mean) GROUP BY node, bin",
      range.origin_unix_ns, range.bin_ns, merged_mean(trace::kFleetColumns[column].name), table, slot_condition(range));
}

std::string fleet_repeated_nodes_sql(std::string_view table, const FleetCellsRange& range) {
  return fmt::format(
      "SELECT DISTINCT node FROM (SELECT node, unit, slot_unix_ns, sumMerge(bits_sum) AS all_bits, groupBitOrMerge(bits_union) "
      "AS "
      "bits FROM {} WHERE {} GROUP BY node, unit, slot_unix_ns HAVING all_bits != bits) ORDER BY node",
      table, slot_condition(range));
}

}  // namespace aaco::tracelake
