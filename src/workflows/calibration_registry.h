#pragma once

#include <string>
#include <vector>

#include "core/environment.h"
#include "core/result.h"
#include "estimation/calibrated.h"
#include "hardware/registry.h"

namespace aaco::workflows {

// Where the calibration of a device lies: REGISTRY/calibration/ID.calibration of the user, else what came with the program.
std::string user_calibration_path(const core::Paths& paths, const std::string& device);

// The calibrations of these devices, or of all where the list is empty; the user's own win. What is damaged or of another release
// is an error that names the file. Devices without a calibration are passed over. Only the heads are read here; what reading the
// trees meets later is in the set's status().
core::Result<estimation::CalibrationSet> load_calibrations(const core::Paths& paths, const hardware::DeviceRegistry& registry,
                                                           const std::vector<std::string>& devices = {});

// What estimates for this device need: its own calibration, or, where it has none, those of all others of its kind.
core::Result<estimation::CalibrationSet> load_calibrations_for(const core::Paths& paths, const hardware::Device& device);

// Replaces the user's calibration of the device at once: a reader sees the old or the new one.
core::Status save_calibration(const core::Paths& paths, const estimation::DeviceCalibration& calibration);

}  // namespace aaco::workflows
