#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "workflows/run_request.h"

namespace aaco::workflows {

// The rewrite that ONNX Runtime does itself: its optimized graph, written once and loaded by each run.
inline constexpr std::string_view kOfflineRewrite = "offline";

// A configuration of a run as text (docs/formats/optimize.md, "best.yaml"). Keys: model, backend, batch, threads, graph_level,
// dtype, seed, ort_library, allow_fallback, rewrite (adds a pass), and with a name behind a dot dimensions, shapes, inputs,
// provider_options and session_options. Fails with invalid_argument for another key or an invalid value.
core::Status set_run_option(RunRequest& request, std::string_view key, const std::string& value);

// Reads a YAML file of those keys; the last five may be mappings. Relative paths are relative to the file's folder.
core::Status read_run_config(const std::string& path, RunRequest& request);

// The file that read_run_config() reads back to an equal configuration.
std::string run_config_text(const RunRequest& request);

}  // namespace aaco::workflows
