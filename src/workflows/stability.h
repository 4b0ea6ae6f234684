#pragma once

#include "analytics/stability.h"
#include "core/result.h"
#include "core/units.h"
#include "workflows/services.h"

namespace aaco::workflows {

// Measures this machine for about `duration` in ten short processes, and judges it by data/rules/stability.yaml.
core::Result<analytics::noise::StabilityVerdict> check_stability(core::Nanoseconds duration, const Services& services);

}  // namespace aaco::workflows
