#pragma once

#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "runner/loop.h"

namespace aaco::workflows {

// The calls in an answer of a measuring process (workflows/ab_worker.h).
core::Result<std::vector<runner::TimedCall>> worker_calls(const core::Json& document);

}  // namespace aaco::workflows
