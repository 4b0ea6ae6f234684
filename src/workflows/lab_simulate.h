#pragma once

#include <string>

#include "laboratory/trace_faults.h"
#include "workflows/run.h"

namespace aaco::workflows {

struct SimulateRequest {
  std::string fault;
  std::string session;  // of a GPU trace
  double intensity = 0.5;
  std::string tag;
  std::uint64_t variant = 0;  // of the names that the fault shows
};

// A session of what a trace would look like with a fault of the GPU, analysed like an imported one; it says so (request.fault and
// a warning). The session it is made of stays as it is.
core::Result<SessionOutcome> simulate(const SimulateRequest& request, const Services& services);

}  // namespace aaco::workflows
