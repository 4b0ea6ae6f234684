#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analytics/fleet.h"
#include "analytics/fleet/rules.h"

namespace aaco::analytics::fleet {

struct Point {
  std::int32_t bin = 0;
  double value = 0;       // as measured; counts: per bin
  double peer_value = 0;  // median of the peers
  double residual = 0;    // on the rule's scale, positive is bad
  std::int32_t peers = 0;
};

// How far one unit is from its peers, bin by bin; load cycles that the peers share are gone.
struct Series {
  trace::FleetUnit unit;
  std::string job;            // of the first point
  std::vector<Point> points;  // ascending
};

struct SeriesSet {
  std::vector<Series> series;
  std::int64_t first_unix_ns = 0, bin_ns = 0;
  std::int32_t bins = 0;
  std::int64_t without_peers = 0;  // units that no bin had enough peers for
};

// One value of a unit before it is compared; `job` -1: none.
struct Value {
  std::int32_t unit = 0, job = -1, bin = 0;
  double value = 0;
};
struct ValueSet {
  std::vector<trace::FleetUnit> units;
  std::vector<std::string> jobs;
  std::vector<Value> values;
};

// The values of one metric; of a metric of the node, means over its devices in one job.
ValueSet values_of(const trace::FleetCells& cells, const Rule& rule);
// Residuals against the median of the peers in the same bin.
SeriesSet compare_with_peers(const ValueSet& values, const Rule& rule);

}  // namespace aaco::analytics::fleet
