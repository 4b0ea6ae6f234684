#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/environment.h"
#include "core/result.h"
#include "estimation/calibrated.h"
#include "hardware/device.h"
#include "report/model.h"

namespace aaco::workflows {

// The best that a class of a calibration reached.
struct MeasuredCeiling {
  double per_second = 0;
  std::string of;          // the class: "gemm bf16"
  std::int64_t sites = 0;  // it was fitted to
};

// The limits of one device as a roofline needs them: those that its entry in the hardware registry states, and those that its
// calibration measured, where it has one. Types are named as the registry does ("bfloat16").
struct DeviceRoofs {
  hardware::Device device;  // as a runtime shows it: of a board of two devices one
  std::string id;           // with "@STATE"
  double cache_bytes = 0;   // the largest cache that all units share; 0: none
  // Of the calibration; empty where there is none, with `problem` where it cannot be read.
  std::string calibration;                                                 // "calibration of ID, 2026-11-20"
  std::map<std::pair<std::string, std::string>, MeasuredCeiling> compute;  // by type and kind: gemm, convolution, attention
  std::optional<MeasuredCeiling> main, cached;  // bytes/s of operands that do not fit the largest cache, and of those that do
  std::string problem;

  [[nodiscard]] std::optional<double> stated_flops_per_s(const std::string& type) const;
  [[nodiscard]] std::optional<double> stated_bytes_per_s() const;
  // Of the kind itself, else the best of the type. Null: none.
  [[nodiscard]] const MeasuredCeiling* measured(const std::string& type, std::string_view kind) const;
  // The least time of work of so many operations and bytes by what was measured. Its operands come from the cache where those of
  // one execution fit it, unless the bytes were counted on the memory's side. Empty where that side was not measured.
  struct Work {
    std::string type, kind;
    double flops = 0, bytes = 0;
    double executions = 1;
    bool counted = false;  // by counters of the memory
  };
  [[nodiscard]] std::optional<double> measured_ns(const Work& work) const;
  [[nodiscard]] bool fits_cache(double bytes_of_one) const { return cache_bytes > 0 && bytes_of_one <= cache_bytes; }

  // All of them for work of these types and kinds: compute, then memory, each stated before measured.
  [[nodiscard]] std::vector<report::Roof> roofs(const std::set<std::pair<std::string, std::string>>& work) const;
};
inline constexpr std::int64_t kFewestSites = 3;

// Takes over the ceilings of a calibration that rest on kFewestSites and are not far below the stated ones.
void add_calibration(DeviceRoofs& roofs, const estimation::DeviceCalibration& calibration);

// Types and kinds of the points.
std::set<std::pair<std::string, std::string>> work_of(const std::vector<report::RoofPoint>& points);
// Sets what each point and all of them together reached of the measured ceilings, and answers the words that follow the share
// reached of the stated ones: ", and 91 % of what ... measured"; empty where there is no calibration to say so.
std::string add_measured(report::Roofline& line, const DeviceRoofs& roofs);
// How many points' work is from counters, and how many from shapes: "their work is from ..."; then how many lie above their roof.
std::string describe_sources(const std::vector<report::RoofPoint>& points);

// Of the registry's device of that id. A calibration that cannot be read is no error, but told in `problem`.
core::Result<DeviceRoofs> device_roofs(const std::string& id, const core::Paths& paths);

}  // namespace aaco::workflows
