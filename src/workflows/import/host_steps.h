#pragma once

#include "core/result.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// Divides a framework's trace without device work into steps and stores them as iterations; where it has none, a warning says so.
// Does nothing to sessions without a framework's operators. Flush before and after.
core::Status store_host_steps(SessionDraft& draft);

}  // namespace aaco::workflows
