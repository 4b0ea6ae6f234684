#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "trace/fleet.h"

namespace aaco::analytics::fleet {

// One side of a comparison: all conditions hold. A name may end in * for a prefix.
struct Side {
  std::string text;
  std::vector<std::string> nodes, jobs, hardware;  // any of each; empty: all
  std::optional<std::int64_t> after_unix_ns, before_unix_ns;
};
// "node=a*", "job=train", "hardware=mi300x", "after=2026-01-01T12:00", "before=...", joined by commas.
core::Result<Side> parse_side(const std::string& text);

// A metric on both sides; nodes are the samples, for devices and minutes of one node are not independent.
struct MetricComparison {
  std::string metric;
  std::int32_t nodes_a = 0, nodes_b = 0;
  double mean_a = 0, mean_b = 0;  // over nodes
  bool relative = false;          // difference is (b - a) / a; else b - a
  double difference = 0;
  std::optional<double> low, high;  // 95 % interval (Welch); empty with fewer than two nodes on a side
  [[nodiscard]] bool differs() const { return low && (*low > 0 || *high < 0); }
};
// The metrics of one group that both sides have.
std::vector<MetricComparison> compare_sides(const trace::FleetCells& cells, trace::FleetGroup group, const Side& a,
                                            const Side& b);

}  // namespace aaco::analytics::fleet
