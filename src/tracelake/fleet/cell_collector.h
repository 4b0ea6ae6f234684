#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "trace/fleet.h"
#include "tracelake/fleet.h"

namespace aaco::tracelake::fleet {

// Gives units and jobs of a query's rows their numbers.
class CellCollector {
 public:
  explicit CellCollector(trace::FleetCells& cells) : cells_(cells) {}
  std::int32_t unit(std::string_view node, std::int32_t device, std::string_view hardware) {
    const auto [place, added] = units_.try_emplace({std::string(node), device}, static_cast<std::int32_t>(cells_.units.size()));
    if (added) cells_.units.push_back({std::string(node), device, std::string(hardware)});
    return place->second;
  }
  std::int32_t job(std::string_view name) {
    if (name.empty()) return -1;
    const auto [place, added] = jobs_.try_emplace(std::string(name), static_cast<std::int32_t>(cells_.jobs.size()));
    if (added) cells_.jobs.emplace_back(name);
    return place->second;
  }

 private:
  trace::FleetCells& cells_;
  std::map<std::pair<std::string, std::int32_t>, std::int32_t> units_;
  std::map<std::string, std::int32_t> jobs_;
};

// Means over the units of each node, of the column at a place in its group.
FleetNodeMeans node_means_of(const trace::FleetCells& cells, std::size_t place);

}  // namespace aaco::tracelake::fleet
