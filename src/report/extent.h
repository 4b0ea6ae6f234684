#pragma once

#include <optional>
#include <vector>

namespace aaco::report {

// The least and greatest finite value.
struct Extent {
  double low, high;
};
std::optional<Extent> extent_of(const std::vector<double>& values);
// With a little air on both sides; a single value gets room around it.
Extent padded(Extent extent, double share = 0.06);

}  // namespace aaco::report
