#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "estimation/calibrated.h"

namespace aaco::estimation {

// Nodes of one part of a section, and what the head tells of them. Every form of what can be learnt has a name.
struct Part {
  std::string form = "trees";
  std::size_t columns = 0, trees = 0;
  std::vector<double> bases;
  std::uint64_t bytes = 0;
};

// What was learnt of one class: parts, one after the other.
struct Section {
  std::uint64_t offset = 0, bytes = 0;  // in the file
  std::uint32_t crc32c = 0;
  std::vector<Part> members;
  std::vector<Part> log_scale;  // one or none
  std::vector<double> probe;    // what it was fitted to see of fixed kernels (probe.h)
};

// The head of a calibration's file: the calibration without trees, and where those lie.
struct CalibrationHead {
  DeviceCalibration calibration;
  std::vector<Section> latency;           // as calibration.latency
  std::map<std::string, Section> energy;  // as calibration.energy
};

core::Json head_to_json(const CalibrationHead& head);
// Refuses what is damaged, with the member's name.
core::Result<CalibrationHead> head_from_json(const core::Json& document);

tl::unexpected<core::Error> wrong_calibration(const std::string& what);
// "fit it again with 'aaco calibrate'".
std::string fit_again();

}  // namespace aaco::estimation
