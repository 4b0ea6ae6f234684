#pragma once

#include <optional>
#include <string>

#include "estimation/calibrated.h"
#include "estimation/device_facts.h"
#include "estimation/kernel.h"

namespace aaco::estimation {

// Times of a serving stack's operators by the fits to measurements, of the device or of relatives that lend.
class OperatorTimes {
 public:
  // `fits` may be null (nothing is known) and outlives this. `stack`: whose kernels; empty: the fastest.
  OperatorTimes(const CalibrationSet* fits, DeviceFacts device, std::string stack)
      : fits_(fits), device_(std::move(device)), stack_(std::move(stack)) {}

  // Empty where nothing like the kernel was measured, or its shape is not valid. Its type is that of the weights ("fp8"): the
  // device's own kernels for it may be of a variant ("fp8_block").
  [[nodiscard]] std::optional<double> seconds(Kernel kernel) const;

 private:
  [[nodiscard]] std::string measured_type(const Kernel& kernel) const;

  const CalibrationSet* fits_;
  DeviceFacts device_;
  std::string stack_;
};

}  // namespace aaco::estimation
