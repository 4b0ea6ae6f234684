#include "tracelake/fleet/cell_collector.h"

namespace aaco::tracelake::fleet {

FleetNodeMeans node_means_of(const trace::FleetCells& cells, std::size_t place) {
  struct Sum {
    double sum = 0;
    int count = 0;
  };
  std::map<std::string, std::vector<Sum>> sums;
  for (const trace::FleetCell& cell : cells.cells) {
    const auto& value = cell.values[place];
    if (!value || cell.bin < 0 || cell.bin >= cells.bins) continue;
    auto& row = sums[cells.units[static_cast<std::size_t>(cell.unit)].node];
    row.resize(static_cast<std::size_t>(cells.bins));
    row[static_cast<std::size_t>(cell.bin)].sum += *value;
    ++row[static_cast<std::size_t>(cell.bin)].count;
  }
  FleetNodeMeans out;
  for (const auto& [node, row] : sums) {
    std::vector<std::optional<double>>& series = out[node];
    for (const Sum& one : row) series.push_back(one.count > 0 ? std::optional(one.sum / one.count) : std::nullopt);
  }
  return out;
}

}  // namespace aaco::tracelake::fleet
