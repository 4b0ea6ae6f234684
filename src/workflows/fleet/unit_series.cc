#include "workflows/fleet/unit_series.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace aaco::workflows {
namespace {

using core::Json;

double four_digits(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10, 3 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

}  // namespace

Json series_json(const FleetSeries& series) {
  Json list = Json::array();
  for (const auto& value : series) list.push(value ? Json(four_digits(*value)) : Json());
  return list;
}

std::vector<Json> unit_series_json(const trace::FleetCells& cells, trace::FleetGroup group, const std::string& node) {
  std::map<std::pair<std::string, std::int32_t>, FleetSeries> series;
  std::map<std::int32_t, std::int32_t> jobs;  // device -> its last job
  for (const trace::FleetCell& cell : cells.cells) {
    const trace::FleetUnit& unit = cells.units[static_cast<std::size_t>(cell.unit)];
    if (unit.node != node || cell.bin < 0 || cell.bin >= cells.bins) continue;
    if (cell.job >= 0) jobs[unit.device] = cell.job;
    std::size_t place = 0;
    for (const trace::FleetColumn& column : trace::kFleetColumns) {
      if (column.group != group) continue;
      if (const auto& value = cell.values[place++]) {
        FleetSeries& one = series[{std::string(column.name), unit.device}];
        one.resize(static_cast<std::size_t>(cells.bins));
        one[static_cast<std::size_t>(cell.bin)] = *value;
      }
    }
  }
  std::vector<Json> out;
  for (const auto& [key, values] : series) {
    Json one = Json::object({{"metric", key.first}});
    if (key.second >= 0) one.set("device", key.second);
    if (const auto job = jobs.find(key.second); job != jobs.end())
      one.set("job", cells.jobs[static_cast<std::size_t>(job->second)]);
    out.push_back(one.set("values", series_json(values)));
  }
  return out;
}

}  // namespace aaco::workflows
