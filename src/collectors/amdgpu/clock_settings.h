#pragma once

#include <string>

#include "core/json.h"

namespace aaco::collectors::amdgpu {

// How the clocks of each AMD GPU are set just now: performance level, power cap, and for each clock its levels and the present
// one. An empty list where there is no GPU.
core::Json clock_settings(const std::string& root);

}  // namespace aaco::collectors::amdgpu
