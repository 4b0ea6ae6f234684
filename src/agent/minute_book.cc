#include "agent/minute_book.h"

#include <algorithm>

namespace aaco::agent {
namespace {

using trace::FleetGroup;

constexpr std::int32_t kHostUnit = -1;

struct MetricColumn {
  std::string_view metric, column;
};
constexpr MetricColumn kMeans[] = {{"gpu.clock_hz", "clock_hz"},
                                   {"gpu.power_watts", "power_watts"},
                                   {"gpu.temperature_celsius", "temperature_celsius"},
                                   {"gpu.use_ratio", "busy_ratio"},
                                   {"cpu.use_ratio", "cpu_busy_ratio"}};
constexpr MetricColumn kCounters[] = {{"gpu.ecc_correctable_count", "ecc_corrected"},
                                      {"gpu.ecc_uncorrectable_count", "ecc_uncorrected"},
                                      {"gpu.pcie_replays_count", "pcie_replays"}};
// Flags (1: active in this sample) and shares of the time between two samples, one per reason.
constexpr std::string_view kThrottleBegin[] = {"gpu.throttle_", "gpu.throttled_"};

constexpr std::size_t kThrottleColumn = trace::fleet_column("throttle_ratio");
constexpr std::size_t kCorrectedColumn = trace::fleet_column("ecc_corrected");
constexpr std::size_t kUncorrectedColumn = trace::fleet_column("ecc_uncorrected");
constexpr std::size_t kLinkColumn = trace::fleet_column("link_errors");

}  // namespace

// A counter that falls was reset with its driver: it counts from 0 again.
void MinuteBook::Counter::read(double value) {
  if (last) grown = grown.value_or(0) + (value >= *last ? value - *last : value);
  last = value;
}

MinuteBook::Route MinuteBook::route_of(std::string_view metric) {
  for (const MetricColumn& one : kMeans)
    if (metric == one.metric) return {How::mean, trace::fleet_column(one.column)};
  for (const MetricColumn& one : kCounters)
    if (metric == one.metric) return {How::counter, trace::fleet_column(one.column)};
  for (const std::string_view begin : kThrottleBegin)
    if (metric.starts_with(begin)) return {How::throttled, kThrottleColumn};
  return {};
}

trace::NameId MinuteBook::name(std::string_view text) {
  const trace::NameId id = names_.intern(text);
  if (id.value >= routes_.size()) {
    routes_.resize(id.value + 1);
    routes_[id.value] = route_of(text);
  }
  return id;
}

void MinuteBook::add(const trace::SystemEventRow& row) {
  if (row.entity.value != 0 || row.metric.value >= routes_.size()) return;  // one CPU, one process
  const Route route = routes_[row.metric.value];
  if (route.how == How::mean) host(route.column, row.value);
}

void MinuteBook::add(const trace::GpuEventRow& row) {
  if (row.metric.value >= routes_.size()) return;
  const Route route = routes_[row.metric.value];
  if (route.how == How::ignored) return;
  ++samples_;
  Unit& unit = units_[static_cast<std::int32_t>(row.device)];
  if (route.how == How::throttled) return unit.throttle_reasons[row.metric.value].add(row.value);
  if (route.how == How::mean) {
    Mean& mean = unit.means[route.column];
    if (mean.count == 0) mean.source = row.source;
    if (mean.source == row.source) mean.add(row.value);
    return;
  }
  Counter& counter = unit.counters[route.column];
  if (!counter.last) counter.source = row.source;
  if (counter.source == row.source) counter.read(row.value);
}

void MinuteBook::count(std::int32_t device, std::size_t column, double counter) {
  ++samples_;
  units_[device].counters[column].read(counter);
}

void MinuteBook::host(std::size_t column, double value) {
  ++samples_;
  units_[kHostUnit].means[column].add(value);
}

void MinuteBook::count_link_errors(std::int32_t device, double corrected, double uncorrected) {
  auto& [of_corrected, of_uncorrected] = link_errors_[device];
  of_corrected.read(corrected);
  of_uncorrected.read(uncorrected);
  Unit& unit = units_[device];
  unit.corrected_by_links = std::exchange(of_corrected.grown, std::nullopt);
  unit.uncorrected_by_links = std::exchange(of_uncorrected.grown, std::nullopt);
}

void MinuteBook::fill(const Unit& unit, FleetGroup group, trace::FleetMinute& row) {
  for (const auto& [column, mean] : unit.means)
    if (trace::kFleetColumns[column].group == group) row.values[column] = mean.value();
  for (const auto& [column, counter] : unit.counters)
    if (trace::kFleetColumns[column].group == group) row.values[column] = counter.grown;
  if (group == FleetGroup::gpu)  // at least this share: reasons may have been active at different times
    for (const auto& [metric, mean] : unit.throttle_reasons)
      row.values[kThrottleColumn] = std::max(row.values[kThrottleColumn].value_or(0), mean.value().value_or(0));
  if (group != FleetGroup::health || !unit.corrected_by_links) return;
  row.values[kLinkColumn] = *unit.corrected_by_links + unit.uncorrected_by_links.value_or(0);
  for (const auto& [column, links] :
       {std::pair(kCorrectedColumn, unit.corrected_by_links), {kUncorrectedColumn, unit.uncorrected_by_links}})
    if (auto& value = row.values[column]; value && links) value = std::max(0.0, *value - *links);
}

bool MinuteBook::has_values(const trace::FleetMinute& row) {
  return std::any_of(row.values.begin(), row.values.end(), [](const auto& value) { return value.has_value(); });
}

std::vector<trace::FleetMinute> MinuteBook::close(std::int64_t minute_unix_ns, const std::string& node, const UnitFacts& host,
                                                  const std::map<std::int32_t, UnitFacts>& devices) {
  std::vector<trace::FleetMinute> rows;
  for (auto& [number, unit] : units_) {
    const bool of_host = number == kHostUnit;
    const auto known = devices.find(number);
    for (const FleetGroup group : trace::kFleetGroups) {
      if (of_host != (group == FleetGroup::host)) continue;
      trace::FleetMinute row;
      row.minute_unix_ns = minute_unix_ns;
      row.node = node;
      row.group = group;
      if (!of_host) row.device = number;
      const UnitFacts facts = of_host ? host : known == devices.end() ? UnitFacts{} : known->second;
      row.hardware = facts.hardware;
      row.job = facts.job;
      row.rank = facts.rank;
      fill(unit, group, row);
      if (has_values(row)) rows.push_back(std::move(row));
    }
    unit.means.clear();
    unit.throttle_reasons.clear();
    unit.corrected_by_links = unit.uncorrected_by_links = std::nullopt;
    for (auto& [column, counter] : unit.counters) counter.grown.reset();
  }
  samples_ = 0;
  return rows;
}

}  // namespace aaco::agent
