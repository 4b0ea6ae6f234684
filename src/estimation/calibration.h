#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "estimation/calibrated.h"
#include "estimation/kernel.h"

// Fits what calibrated.h describes to measurements.
namespace aaco::estimation {

// One kernel measured on a device.
struct Measurement {
  Kernel kernel;
  double seconds = 0;
  std::optional<double> power_watts;
  std::string where;  // "FILE:LINE"
};

// What is held out as a whole where a fit is tested: all products of one (n, k), all convolutions with one filter, all attention
// of one head shape, all of a vector operator on rows of one length.
std::string site_of(const Kernel& kernel);

struct FitSettings {
  int parts = 6;  // the sites are cut into so many; each member of the ensemble leaves one out, which gives honest residuals
  int threads = 2;
  std::uint64_t seed = 1;
};

// Fits every kind and type that occurs. Rows the device has no ceiling for are an error (unsupported), as is an empty list.
core::Result<DeviceCalibration> calibrate(std::span<const Measurement> measurements, const DeviceFacts& device,
                                          const FitSettings& settings = {});

// What `calibrate` saw of each row, from the member of the ensemble that had not seen its site.
struct Residual {
  std::size_t row = 0;  // of the measurements
  double estimate = 0;  // seconds, or joules
};
struct FittedResiduals {
  std::vector<Residual> latency, energy;
};
core::Result<DeviceCalibration> calibrate(std::span<const Measurement> measurements, const DeviceFacts& device,
                                          const FitSettings& settings, FittedResiduals& residuals);

}  // namespace aaco::estimation
