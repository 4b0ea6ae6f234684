#pragma once

#include <vector>

#include "workflows/gpu_analysis.h"

namespace aaco::workflows {

// The named causes of one device's gaps, the largest first. A cause that is known by its frames alone carries their names in its
// title: "host code in soundfile.py(285): read".
std::vector<IdleCause> idle_causes_of(const analytics::gaps::GapSums& sums, const analytics::gaps::CauseBook& book,
                                      const trace::NameTable& names);

}  // namespace aaco::workflows
