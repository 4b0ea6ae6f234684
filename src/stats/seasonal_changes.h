#pragma once

#include <span>
#include <vector>

#include "stats/change_reader.h"

namespace aaco::stats {

struct SeasonalReading {
  std::vector<double> values;  // of the series, less its repeating pattern where there is one
  std::vector<ReadChange> changes;
};

// The changes of a series with or without a repeating pattern (stats/season.h). It is looked for after 28 values and then each
// time the series has grown by an eighth. What was found before stays, unless the values around it, less the pattern, show no
// change: then the pattern itself reversed it.
SeasonalReading read_seasonal_changes(std::span<const double> series);

}  // namespace aaco::stats
