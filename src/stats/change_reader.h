#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stats/change_scan.h"

namespace aaco::stats {

struct ReadChange {
  std::size_t index = 0;
  FoundShape shape = FoundShape::step;
  double gain = 0;
};

// The changes that reading the series from its start to its end finds. Finite values of any scale.
std::vector<ReadChange> read_changes(std::span<const double> series);

}  // namespace aaco::stats
