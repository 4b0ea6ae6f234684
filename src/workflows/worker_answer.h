#pragma once

#include <cstdint>

#include "core/json.h"
#include "core/result.h"
#include "core/worker_process.h"

namespace aaco::workflows {

// The next answer of a worker process; the error it answers with becomes this one's.
core::Result<core::Json> worker_answer(core::WorkerProcess& process, std::int64_t timeout_ns);
// What a worker answers instead of a result.
core::Json error_answer(const core::Error& error);

}  // namespace aaco::workflows
