#pragma once

#include <vector>

#include "analytics/gaps.h"
#include "trace/names.h"

namespace aaco::workflows {

// Idle time of a device that a named cause of data/gaps took.
struct IdleCause {
  analytics::gaps::NamedCause cause;
  analytics::gaps::HostCauseSum sum;
};

// The named causes of one device's gaps, the largest first. A cause that is known by its frames alone carries their names in its
// title: "host code in soundfile.py(285): read".
std::vector<IdleCause> idle_causes_of(const analytics::gaps::GapSums& sums, const analytics::gaps::CauseBook& book,
                                      const trace::NameTable& names);

}  // namespace aaco::workflows
