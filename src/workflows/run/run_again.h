#pragma once

#include <string>
#include <vector>

#include "workflows/run_request.h"

namespace aaco::workflows {

// The options of `aaco run` (and of a side of `aaco ab`) that select the model and its configuration as the request does.
std::vector<std::string> configuration_words(const RunRequest& request);

// `aaco run` with the request's model, backend and shapes, as a command: for execution under a profiler. Its session goes to
// `sessions` and has no profile, telemetry or report.
std::vector<std::string> run_again(const std::string& program, const RunRequest& request, std::int64_t iterations,
                                   const std::string& sessions);

// Whether the GPU profilers of ROCm see what an execution provider does.
bool is_rocm_provider(const std::string& provider);

}  // namespace aaco::workflows
