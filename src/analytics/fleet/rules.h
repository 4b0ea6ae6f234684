#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace aaco::analytics::fleet {

// How a metric is compared with its peers.
enum class Scale : std::uint8_t {
  ratio,       // log of value / peers
  difference,  // value - peers
  count,       // square roots of counts per bin, whose noise does not depend on the rate
};
enum class Bad : std::uint8_t { high, low, both };

struct Rule {
  std::string_view metric;
  Scale scale;
  Bad bad;
  // The smallest effect that matters, on the scale: log ratio, unit of the metric, or square root of counts per bin. Chosen above
  // the differences between good devices of one model (about 1 % in clock and time, 2 K, by the binning of silicon; a few memory
  // errors per hour), and fixed before the seeds of the judge were drawn (scripts/proofs/fleet_faults.py).
  double smallest;
  double noise_floor;     // standard deviation of one bin is at least this: sensors are quantised
  bool of_job;            // comparable only between ranks of the same job: it depends on the load
  bool of_node;           // peers are on other nodes: a fault of the host affects all its devices
  std::string_view kind;  // of a finding that rests on this metric alone
  int min_peers = 4;      // others than the unit itself
  // The spread is the noise of each unit about its own median: a lasting difference between units is what is looked for. Else it
  // includes the differences between units.
  bool own_spread = false;
  bool in_bursts = false;  // a fault may affect fewer than half of the bins, in several episodes
  int min_bins = 3;        // that are affected, where there are fewer episodes
};

std::span<const Rule> rules();
// Index in rules(), or their number.
std::size_t rule_of(std::string_view metric);

}  // namespace aaco::analytics::fleet
