#pragma once

#include "core/json.h"
#include "workflows/session_outcome.h"

namespace aaco::workflows {

// What `run`, `record`, `show` and `import` print with --json (docs/formats/cli_json.md).
core::Json session_json(const SessionOutcome& outcome);

}  // namespace aaco::workflows
