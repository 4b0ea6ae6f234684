#pragma once

#include <optional>
#include <string>

#include "estimation/analysis.h"
#include "estimation/calibrated.h"

namespace aaco::estimation {

// What measured kernels of other classes reached of a device's published rates. 0: nobody measured it.
struct Achieved {
  double compute_ratio = 0;  // of the peak of one element type
  double memory_ratio = 0;   // of the memory's bandwidth
  double floor_s = 0;        // of a launch
  std::string source;        // devices
};

// Of the device's own calibration, else of those of the same architecture, else of the same vendor (the geometric mean of each
// ratio); empty: there are none.
std::optional<Achieved> achieved_rates(const CalibrationSet& set, const DeviceFacts& device, std::string_view type);

// How long work takes whose class nobody measured: as by specifications, with the achieved rates in place of the usual part of
// the published ones. INTERPOLATED, with the bounds of an estimate from specifications.
LatencyEstimate achieved_estimate(const LatencyEstimate& theoretical, const Mapping& mapping, const Achieved& achieved);

}  // namespace aaco::estimation
