#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "report/model.h"
#include "trace/session.h"

namespace aaco::workflows {

// What one stored session did on one kind of device, as points of a roofline: nodes of a profiled run on the CPU, kernels of
// known work of an imported trace.
struct RunWork {
  std::string device_id, device_name;
  std::int64_t threads = 0;  // that a run on a CPU had, where these were fewer than its cores; 0: all
  std::vector<report::RoofPoint> points;
};

// Empty where the session holds no work of known size: a run that was not profiled or whose machine is not in the hardware
// registry, a trace without shapes and counters. All GPUs of one kind are one entry.
core::Result<std::vector<RunWork>> run_work(const std::string& session_path, const trace::SessionManifest& manifest);

}  // namespace aaco::workflows
