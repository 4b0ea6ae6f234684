#pragma once

#include <algorithm>

#include "stats/summary.h"

namespace aaco::analytics::llm {

// A lag matters where it exceeds the half width of the interval, this share of the value, and this time.
inline constexpr double kLagShare = 0.05;
inline constexpr double kLagFloorNs = 500'000;  // serving::kLongEventNs

inline bool matters(double added_ns, const stats::Quantile& result) {
  const double half = result.ci95 ? (result.ci95->high - result.ci95->low) / 2 : 0;
  return added_ns > std::max({half, kLagShare * result.value, kLagFloorNs});
}

}  // namespace aaco::analytics::llm
