#pragma once

#include <optional>
#include <string_view>

#include "analytics/attribution.h"

namespace aaco::analytics::attribution {

// Why kernels of a device could not be attributed, and what to do about it.
struct Obstacle {
  std::string_view id;  // of the warning: attribution.no_launches or attribution.low
  std::string_view reason, remedy;
};

// What the trace has beside its kernels.
struct TraceHas {
  bool api_calls = false;
  bool causes = false;  // framework operators or marker ranges
};

// Of a device at least half of whose kernel time was attributed: empty; so where nothing was to be attributed but API calls are
// there. Else what stands in the way of most of the kernel time that has no cause.
std::optional<Obstacle> why_not_attributed(const Coverage& coverage, const TraceHas& trace);

}  // namespace aaco::analytics::attribution
