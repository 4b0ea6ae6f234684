#pragma once

#include "core/result.h"
#include "workflows/run_request.h"
#include "workflows/services.h"
#include "workflows/session_outcome.h"

namespace aaco::workflows {

// Runs a model under observation and stores the evidence. Where it fails half way the open bundle stays, marked incomplete.
core::Result<SessionOutcome> run(const RunRequest& request, const Services& services);

}  // namespace aaco::workflows
