#pragma once

#include <cstdint>
#include <functional>
#include <map>
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

// The least time that the device's peak leaves for the kernel, with a tenth for clocks above the published one and, for a
// convolution, the fewest multiplications any algorithm can do; of a peak that a probe measured, a quarter of that. 0: nothing
// is known.
double least_possible_seconds(const Kernel& kernel, const DeviceFacts& device);

// Rows that took less than that. They are no times of what their columns say (a clock that failed, work that was skipped), so
// nothing is learnt from them and no estimate is judged by them.
struct ImpossibleRows {
  std::vector<bool> impossible;  // a row
  std::int64_t count = 0;
  std::size_t worst = 0;   // row, where there is one
  double worst_times = 0;  // how many times faster than possible
  // Classes of which more than half are impossible: the others are no times either (another unit, another device), and nothing
  // is learnt from any. class_of() -> rows.
  std::map<std::string, std::int64_t> untrusted;
};
ImpossibleRows impossible_rows(std::span<const Measurement> measurements, const DeviceFacts& device);

// Rows of types that the device has no ceiling for: they cannot be put in relation to it, and are left out class by class.
struct RowsWithoutPeak {
  std::map<std::string, std::int64_t> classes;  // class_of() -> rows
  std::int64_t count = 0;
  std::size_t first = 0;  // row, where there is one
};
RowsWithoutPeak rows_without_peak(std::span<const Measurement> measurements, const DeviceFacts& device);

struct FitSettings {
  int parts = 6;  // the sites are cut into so many; each member of the ensemble leaves one out, which gives honest residuals
  int threads = 2;
  std::uint64_t seed = 1;
  // Fewer and coarser trees, rounded as files that are shipped store them; residuals and bounds are of that form.
  bool compact = false;
  double effort = 1;      // part of the usual number of compact trees, where many classes share a file; calibrate() sets it
  int compact_bins = 32;  // of each feature, of compact trees; calibrate() sets it
  int trees = 0;          // of a class in place of that, where kernels of serving stacks are in the file as well; 0: by effort
};

// Classes whose every row takes more than fifty times what the device's roofline allows and more than any launch costs: as if the
// times were of a smaller unit. class_of() -> rows.
std::map<std::string, std::int64_t> slow_classes(std::span<const Measurement> measurements, const DeviceFacts& device);

// Fits every kind and type that occurs; impossible rows, those of untrusted classes and those without a peak are left out, and a
// class of nothing else has no model. A list without any other row is an error: unsupported, naming the first, where the device
// has a peak for none, else invalid_input. Energy is fitted where a class has kFewestPowers rows with a power.
inline constexpr std::size_t kFewestPowers = 3;
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
