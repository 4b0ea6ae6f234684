#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace aaco::stats {

// The period of a repeating pattern, in values; 0 where there is none. At least six periods must be there, of 4 to 60 values or
// of a usual length above (hours of a day or week in steps of 5 to 60 minutes, days of a year). A pattern counts where, its
// moving mean over a period taken off, values one and two periods apart correlate by about 0.45 or more.
std::size_t find_season(std::span<const double> series);

// The series less its pattern: of each value's phase, the median distance from the moving mean over the seven nearest periods, so
// that a pattern may grow. As it was where there is no season.
std::vector<double> without_season(std::span<const double> series);

}  // namespace aaco::stats
