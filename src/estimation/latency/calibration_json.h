#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "estimation/calibrated.h"
#include "estimation/latency/section_json.h"

namespace aaco::estimation {

// The head of a calibration's file: the calibration without trees, and where those lie.
struct CalibrationHead {
  DeviceCalibration calibration;
  std::vector<Section> latency;           // as calibration.latency
  std::map<std::string, Section> energy;  // as calibration.energy
};

core::Json head_to_json(const CalibrationHead& head);
// Refuses what is damaged, with the member's name.
core::Result<CalibrationHead> head_from_json(const core::Json& document);

}  // namespace aaco::estimation
