#pragma once

#include <span>
#include <vector>

#include "core/result.h"
#include "estimation/calibration.h"

namespace aaco::estimation {

// Static power and energy per operation and byte by non-negative least squares on relative errors, then trees for what those
// leave. All `rows` have a power, and there are kFewestPowers or more.
core::Result<EnergyModel> fit_energy(std::span<const Measurement> measurements, const std::vector<std::size_t>& rows,
                                     const DeviceFacts& device, const FitSettings& settings, std::vector<Residual>& residuals);

}  // namespace aaco::estimation
