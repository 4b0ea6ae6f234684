#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/environment.h"
#include "core/json.h"
#include "core/result.h"
#include "estimation/calibrated.h"
#include "estimation/calibration_file.h"
#include "hardware/registry.h"
#include "workflows/services.h"

namespace aaco::workflows {

// Where the calibration of a device lies: REGISTRY/calibration/ID.calibration of the user, else what came with the program.
std::string user_calibration_path(const core::Paths& paths, const std::string& device);

// The calibrations of these devices, or of all where the list is empty; the user's own win class by class. What is damaged or of
// another release is an error that names the file. Devices without a calibration are passed over. Only the heads are read here;
// what reading the trees meets later is in the set's status().
core::Result<estimation::CalibrationSet> load_calibrations(const core::Paths& paths, const hardware::DeviceRegistry& registry,
                                                           const std::vector<std::string>& devices = {});

// What estimates for this device need: its own calibration, and those of all others of its kind for classes which that lacks.
core::Result<estimation::CalibrationSet> load_calibrations_for(const core::Paths& paths, const hardware::Device& device);

// Replaces the user's calibration of the device at once: a reader sees the old or the new one.
core::Status save_calibration(const core::Paths& paths, const estimation::DeviceCalibration& calibration);

// A calibration as it lies in the registry.
struct CalibrationEntry {
  std::string device, path;
  bool own = false;  // the user's, else one that came with the program
  std::int64_t bytes = 0;
  core::Result<estimation::CalibrationFile> file;  // or why it cannot be read
};
// By device. What cannot be read is listed with its reason.
core::Result<std::vector<CalibrationEntry>> list_calibrations(const core::Paths& paths);

// That of one device (as find_device() takes it), read to its last section: what is damaged anywhere is an error, as is a device
// without one (not_found).
core::Result<CalibrationEntry> find_calibration(const std::string& device, const Services& services);

// Removes the user's calibration of the device, readable or not, and tells the file; not_found where there is none.
core::Result<std::string> remove_calibration(const std::string& device, const Services& services);

// What a person may want to know of it: everything but the trees.
core::Json to_json(const CalibrationEntry& entry);

}  // namespace aaco::workflows
