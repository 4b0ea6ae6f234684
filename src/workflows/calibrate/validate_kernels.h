#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "estimation/calibrated.h"
#include "estimation/calibration.h"
#include "estimation/validation.h"
#include "workflows/measurement_files.h"
#include "workflows/validate.h"

namespace aaco::workflows {

struct KernelTrial {
  const std::vector<estimation::Measurement>& rows;
  const estimation::DeviceFacts& device;
  const MeasurementFiles& files;  // of all devices
  const hardware::DeviceRegistry& registry;
  const ValidateRequest& request;
  const std::vector<std::string>& lenders;
  const Services& services;
};

struct KernelResidual {
  estimation::Judged judged;
  estimation::Level level = estimation::Level::calibrated;
  std::string where;
};

struct KernelJudgement {
  std::vector<KernelResidual> latency;
  std::vector<KernelResidual> rejected;                          // impossible rows, estimated all the same
  std::vector<estimation::Judged> energy, energy_of_prediction;  // the time given; the time predicted, as `aaco analyze` has it
  std::vector<estimation::Judged> memory;                        // peaks of whole models, in bytes
  // "spec_roofline": the specification's ceilings alone; "one_factor": that times one fitted factor a class.
  std::map<std::string, std::vector<estimation::Judged>> baselines;
  std::vector<std::string> notes;
};

// Every row estimated by a set of calibrations that has not seen it, as the split says.
core::Result<KernelJudgement> judge_kernels(const KernelTrial& trial);

}  // namespace aaco::workflows
