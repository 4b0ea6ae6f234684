#pragma once

#include <vector>

#include "report/model.h"

namespace aaco::workflows {

// Gives kernels (group: family, detail: what the name says) the short names of analytics/short_name.h.
void name_shortly(std::vector<report::TimeShare>& kernels);

}  // namespace aaco::workflows
