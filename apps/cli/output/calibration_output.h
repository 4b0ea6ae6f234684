#pragma once

#include <string>
#include <vector>

#include "workflows/calibration_registry.h"

namespace aaco::cli {

// One line a class: how much it was fitted to, how good it is, what the device reaches.
std::string describe(const estimation::DeviceCalibration& calibration);

std::string describe(const workflows::CalibrationEntry& entry);
std::string describe(const std::vector<workflows::CalibrationEntry>& entries);

}  // namespace aaco::cli
