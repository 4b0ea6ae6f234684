#pragma once

#include <optional>
#include <string>

#include "estimation/calibrated.h"
#include "estimation/device_facts.h"
#include "estimation/kernel.h"
#include "estimation/latency.h"

namespace aaco::estimation {

// Times of a serving stack's operators by the fits to measurements, of the device or of relatives that lend.
class OperatorTimes {
 public:
  // `fits` may be null (nothing is known) and outlives this. `stack`: whose kernels; empty: the fastest.
  OperatorTimes(const CalibrationSet* fits, DeviceFacts device, std::string stack)
      : fits_(fits), device_(std::move(device)), stack_(std::move(stack)) {}

  // Empty where no such kernel of its type was measured on the device or one of its vendor, or its shape is not valid.
  // Rows of products are padded as stacks do.
  [[nodiscard]] std::optional<double> seconds(Kernel kernel) const;

 private:
  [[nodiscard]] std::optional<double> at(Kernel kernel) const;
  [[nodiscard]] std::optional<Level> level_of(const Kernel& kernel) const;
  struct Measured {
    std::string type;
    std::optional<Level> level;
  };
  [[nodiscard]] Measured measured_as(const Kernel& kernel) const;

  const CalibrationSet* fits_;
  DeviceFacts device_;
  std::string stack_;
};

}  // namespace aaco::estimation
