#include <algorithm>
#include <map>

#include "analytics/fleet.h"
#include "analytics/fleet/rules.h"
#include "analytics/fleet/scan.h"
#include "analytics/fleet/series.h"

namespace aaco::analytics::fleet {
namespace {

void test_values(const ValueSet& values, const Rule& rule, const trace::FleetCells& frame, Tests& tests) {
  SeriesSet set = compare_with_peers(values, rule);
  set.first_unix_ns = frame.first_unix_ns;
  set.bin_ns = frame.bin_ns;
  set.bins = frame.bins;
  scan_series(set, rule, tests);
}

// One value per node and bin.
template <class Of>
void test_nodes(const Presence& presence, std::string_view metric, Tests& tests, Of&& of) {
  ValueSet values;
  for (std::size_t node = 0; node < presence.nodes.size(); ++node) {
    values.units.push_back({presence.nodes[node], -1, ""});
    for (std::int32_t bin = 0; bin < presence.bins; ++bin)
      if (const std::optional<double> value = of(node, static_cast<std::size_t>(bin)))
        values.values.push_back({static_cast<std::int32_t>(node), -1, bin, *value});
  }
  trace::FleetCells frame;
  frame.first_unix_ns = presence.first_unix_ns;
  frame.bin_ns = presence.bin_ns;
  frame.bins = presence.bins;
  test_values(values, rules()[rule_of(metric)], frame, tests);
}

std::optional<double> ratio(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void Presence::add(const trace::FleetCells& cells) {
  const auto size = static_cast<std::size_t>(cells.bins);
  first_unix_ns = cells.first_unix_ns;
  bin_ns = cells.bin_ns;
  bins = cells.bins;
  std::map<std::string_view, std::size_t> known;
  for (std::size_t i = 0; i < nodes.size(); ++i) known[nodes[i]] = i;
  std::vector<std::size_t> node_of;
  for (const trace::FleetUnit& unit : cells.units) {
    if (const auto found = known.find(unit.node); found != known.end()) {
      node_of.push_back(found->second);
      continue;
    }
    node_of.push_back(nodes.size());
    nodes.push_back(unit.node);
    known[unit.node] = node_of.back();
    minutes.emplace_back(size);
    rows.emplace_back(size);
    distinct.emplace_back(size);
    late.emplace_back(size);
    delay_sum_ns.emplace_back(size);
    delay_count.emplace_back(size);
  }
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> minutes_of_unit;  // a bin may have two jobs
  for (const trace::FleetCell& cell : cells.cells) {
    const std::size_t node = node_of[static_cast<std::size_t>(cell.unit)];
    const auto bin = static_cast<std::size_t>(cell.bin);
    std::int32_t& unit_minutes = minutes_of_unit[{cell.unit, cell.bin}];
    unit_minutes += cell.minutes;
    minutes[node][bin] = std::max(minutes[node][bin], unit_minutes);
    rows[node][bin] += cell.rows;
    distinct[node][bin] += cell.minutes;
    late[node][bin] += cell.late;
    if (cell.delay_ns) {
      delay_sum_ns[node][bin] += *cell.delay_ns * cell.minutes;
      delay_count[node][bin] += cell.minutes;
    }
  }
}

void test_group(const trace::FleetCells& cells, trace::FleetGroup group, Tests& tests) {
  for (const Rule& rule : rules()) {
    const std::size_t column = trace::fleet_column(rule.metric);
    if (column == trace::kFleetValues || trace::kFleetColumns[column].group != group) continue;
    test_values(values_of(cells, rule), rule, cells, tests);
  }
}

void test_presence(const Presence& presence, Tests& tests) {
  const auto per_bin = static_cast<double>(presence.bin_ns) / 60e9;
  test_nodes(presence, "missing_ratio", tests, [&](std::size_t node, std::size_t bin) -> std::optional<double> {
    return std::max(0.0, 1 - presence.minutes[node][bin] / per_bin);
  });
  test_nodes(presence, "late_ratio", tests,
             [&](std::size_t node, std::size_t bin) { return ratio(presence.late[node][bin], presence.distinct[node][bin]); });
  test_nodes(presence, "duplicate_ratio", tests, [&](std::size_t node, std::size_t bin) {
    return ratio(presence.rows[node][bin] - presence.distinct[node][bin], presence.distinct[node][bin]);
  });
  test_nodes(presence, "delay_ns", tests, [&](std::size_t node, std::size_t bin) -> std::optional<double> {
    const std::int64_t count = presence.delay_count[node][bin];
    if (count == 0) return std::nullopt;
    return presence.delay_sum_ns[node][bin] / static_cast<double>(count);
  });
}

}  // namespace aaco::analytics::fleet
