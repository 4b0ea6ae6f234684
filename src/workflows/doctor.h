#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "workflows/services.h"

namespace aaco::workflows {

// Whether one feature works on this machine, and what to do where it does not.
struct DoctorLine {
  std::string feature;  // "run on the CPU", "GPU telemetry (AMD)"
  bool works = false;
  std::string reason;  // what was found, or what is missing
  std::string remedy;  // the exact next step; empty where it works
};

std::vector<DoctorLine> diagnose(const Services& services, const std::string& ort_library);

// This machine, its GPUs, the runtime and its providers, the collectors and what each may read.
core::Json describe_machine(const Services& services, const std::string& ort_library);

}  // namespace aaco::workflows
