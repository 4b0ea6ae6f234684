#pragma once

#include <string>

#include "estimation/latency.h"

namespace aaco::estimation {

struct EnergyParts {
  double compute_joules = 0, movement_joules = 0, static_joules = 0;
  [[nodiscard]] double joules() const { return compute_joules + movement_joules + static_joules; }
};

// Energy of a piece of work, its parts the whole of it, with its 90 % interval.
struct EnergyEstimate {
  EnergyParts parts;
  double lower = 0, upper = 0;  // joules
  Level level = Level::theoretical;
  std::string source;
  [[nodiscard]] double joules() const { return parts.joules(); }
};

}  // namespace aaco::estimation
