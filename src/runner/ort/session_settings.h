#pragma once

#include <map>
#include <string>

#include "runner/ort/api.h"

namespace aaco::runner::ort {

// Settings of a session beyond threads and graph level, by name (BackendOptions::session_options): execution_mode
// (sequential, parallel), inter_op_threads (a count), memory_arena, memory_pattern, pinning and fixed_dimensions (on, off), and
// ONNX Runtime's own configuration entries, whose names have a dot and are passed on verbatim. Fails with invalid_argument for
// any other name or value. `pinning` and `fixed_dimensions` are checked here and applied by those who know the threads and the
// given sizes.
core::Status check_session_settings(const std::map<std::string, std::string>& settings);
core::Status apply_session_settings(const Api& api, OrtSessionOptions* session,
                                    const std::map<std::string, std::string>& settings);

}  // namespace aaco::runner::ort
