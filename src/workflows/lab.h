#pragma once

#include <optional>
#include <string>

#include "laboratory/faults.h"
#include "workflows/run.h"

namespace aaco::workflows {

struct InjectRequest {
  std::string fault;
  double intensity = 0.5;
  std::string generator;  // empty: the fault's first
  RunRequest run;
};

// Runs a model with a known fault at work; the session says so (request.fault and a warning). What earlier processes that were
// killed left behind is undone first.
core::Result<SessionOutcome> inject(const InjectRequest& request, const Services& services);

// Undoes what killed processes left behind; answers how many changes.
core::Result<std::int64_t> clean_up_faults(const Services& services);

}  // namespace aaco::workflows
