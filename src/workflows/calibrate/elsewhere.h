#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "estimation/calibrated.h"
#include "estimation/calibration.h"

namespace aaco::workflows {

// What is added to the bounds of a fit for those who measure with other software: half a 90 % interval of the logarithm by kind
// and type ("gemm bf16"), estimated from `rows` that another laboratory measured on the same device, whole sites counting once
// each as the fit's own quantiles do. Rows that the fit is not of are passed over; FP16 is tried with BF16's fit where both have
// one peak.
core::Result<std::map<std::string, double>> elsewhere_terms(const estimation::DeviceCalibration& calibration,
                                                            const estimation::DeviceFacts& device,
                                                            const std::vector<estimation::Measurement>& rows);

}  // namespace aaco::workflows
