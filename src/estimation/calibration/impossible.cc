#include <algorithm>
#include <set>

#include "estimation/calibration.h"

namespace aaco::estimation {
namespace {

// Devices may run above the clock that their published peak is of, and round it: an H100's 1980 MHz are 1.08 times the clock of
// its data sheet. No measured product that repeats comes near.
constexpr double kAbovePeak = 1.1;
// A peak that a probe measured while others had the processor is too low by what they took.
constexpr double kAboveMeasuredPeak = 4;

// How many times fewer multiplications than its definition has an algorithm may do. Of a filter of r x s on any number of outputs
// one multiplication an output remains at least (Winograd, Arithmetic Complexity of Computations, 1980, chapter V).
double savings_of(const Kernel& kernel) {
  const auto* convolution = std::get_if<ConvolutionShape>(&kernel.shape);
  return convolution == nullptr ? 1 : static_cast<double>(convolution->r) * static_cast<double>(convolution->s);
}

}  // namespace

double least_possible_seconds(const Kernel& kernel, const DeviceFacts& device) {
  // The operations of vector operators are a convention, those of others were told.
  if (!as_gemm(kernel)) return 0;
  const auto roof = roofline(kernel, device);
  const double above = device.measured_peaks ? kAboveMeasuredPeak : kAbovePeak;
  return roof ? roof->compute_s / (above * savings_of(kernel)) : 0;
}

RowsWithoutPeak rows_without_peak(std::span<const Measurement> measurements, const DeviceFacts& device) {
  RowsWithoutPeak result;
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    const auto roof = roofline(measurements[i].kernel, device);
    if (roof || roof.error().code != core::ErrorCode::unsupported) continue;
    if (result.count++ == 0) result.first = i;
    ++result.classes[class_of(measurements[i].kernel)];
  }
  return result;
}

ImpossibleRows impossible_rows(std::span<const Measurement> measurements, const DeviceFacts& device) {
  ImpossibleRows result;
  result.impossible.resize(measurements.size(), false);
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    const double times = least_possible_seconds(measurements[i].kernel, device) / measurements[i].seconds;
    if (times <= 1) continue;
    result.impossible[i] = true;
    ++result.count;
    if (times <= result.worst_times) continue;
    result.worst_times = times;
    result.worst = i;
  }
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> classes;  // rows, and the impossible among them
  if (result.count > 0)
    for (std::size_t i = 0; i < measurements.size(); ++i) {
      auto& [rows, impossible] = classes[class_of(measurements[i].kernel)];
      ++rows;
      impossible += result.impossible[i] ? 1 : 0;
    }
  for (const auto& [name, counts] : classes)
    if (2 * counts.second > counts.first) result.untrusted.emplace(name, counts.first);
  return result;
}

std::map<std::string, std::int64_t> slow_classes(std::span<const Measurement> measurements, const DeviceFacts& device) {
  constexpr double kTimesSlower = 50;
  constexpr double kLongestLaunch = 1e-3;  // seconds, with room to spare
  std::map<std::string, std::int64_t> slow;
  std::set<std::string> others;
  for (const Measurement& measured : measurements) {
    const std::string name = class_of(measured.kernel);
    if (others.contains(name)) continue;
    const auto roof = roofline(measured.kernel, device);
    if (roof && measured.seconds > kLongestLaunch && measured.seconds > kTimesSlower * roof->seconds()) {
      ++slow[name];
    } else {
      others.insert(name);
      slow.erase(name);
    }
  }
  return slow;
}

}  // namespace aaco::estimation
