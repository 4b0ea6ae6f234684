#pragma once

#include <cstdint>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "core/worker_process.h"
#include "runner/loop.h"

namespace aaco::workflows {

// The next answer of a measuring process (workflows/ab_worker.h); the error it answers with becomes this one's.
core::Result<core::Json> worker_answer(core::WorkerProcess& process, std::int64_t timeout_ns);
// The calls in an answer.
core::Result<std::vector<runner::TimedCall>> worker_calls(const core::Json& document);

}  // namespace aaco::workflows
