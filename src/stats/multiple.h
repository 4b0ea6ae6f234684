#pragma once

#include <span>
#include <vector>

namespace aaco::stats {

// P values of several tests, adjusted so that each may be held against the level itself. Same order as given.

// Holm (Scandinavian Journal of Statistics 6, 1979): at most a share `level` of all sets of tests has a single false one.
std::vector<double> holm_adjusted(std::span<const double> p_values);

// Benjamini and Hochberg (JRSS B 57, 1995): at most a share `level` of what is found is false on average.
std::vector<double> benjamini_hochberg_adjusted(std::span<const double> p_values);

}  // namespace aaco::stats
