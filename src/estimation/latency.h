#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "estimation/device_facts.h"
#include "estimation/kernel.h"

// How long a kernel takes on a device, with the bounds of a 90 % interval and the reasons.
namespace aaco::estimation {

// How an estimate was come by, best first. CALIBRATED: fitted to measurements of this device. INTERPOLATED: from calibrations
// of other devices, carried over by the ratio of their ceilings. THEORETICAL: from specifications alone.
enum class Level { calibrated, interpolated, theoretical };
std::string_view to_string(Level level);                        // "CALIBRATED" ...
std::optional<Level> level_from_string(std::string_view text);  // any case

struct Explanation {
  double compute_s = 0;         // operations at the ceiling of the type
  double memory_s = 0;          // bytes at the memory ceiling
  double floor_s = 0;           // launch and drain that no shape avoids
  double tile_ratio = 1;        // useful share of the tiles' area (edges): 0..1
  double wave_ratio = 1;        // useful share of the units in all waves of tiles: 0..1
  double efficiency_ratio = 1;  // (roofline + floor) / estimate
  std::string limit;            // "compute", "memory", "floor"
  std::string method;           // one line: which model, fitted on what
};

struct LatencyEstimate {
  double seconds = 0;
  double lower = 0, upper = 0;  // 90 % interval
  // The same for who measures as those did whom the fit is of; without it the interval is for others as well.
  struct Range {
    double lower = 0, upper = 0;
  };
  std::optional<Range> same_laboratory;
  Level level = Level::theoretical;
  std::string source;  // the calibration's name, or "specification"
  Explanation explanation;
};

// Everything fitted that may be used for one device; see calibration.h.
class CalibrationSet;

// The estimate at the best level that the calibrations reach, `best` at most (theoretical ignores all calibrations).
// `calibrations` may be null. Fails with invalid_input on impossible shapes and with unsupported where the device has no ceiling
// for the type, and with what with_trees() fails. Takes tens of microseconds once its trees are read. Thread-safe.
core::Result<LatencyEstimate> estimate(const Kernel& kernel, const DeviceFacts& device, const CalibrationSet* calibrations,
                                       Level best = Level::calibrated);

}  // namespace aaco::estimation
