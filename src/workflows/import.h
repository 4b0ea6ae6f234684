#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "workflows/gpu_analysis.h"
#include "workflows/session_outcome.h"

namespace aaco::workflows {

struct ImportRequest {
  std::vector<std::string> paths;     // files and folders; what they hold becomes one session
  std::vector<std::string> captures;  // traces of the capture of graphs that the others launch; none: those named so
  std::string graph;                  // model whose nodes the kernels are of: a file, or a name of models.yaml; empty: none
  std::optional<std::int64_t> batch;  // that it ran with
  std::string tag;
  bool keep_raw = false;  // copy the files into the bundle
  bool count_orphans = true;
  bool count_memset = true;
  std::int64_t gap_threshold_ns = analytics::gaps::kDefaultThresholdNs;
};

// Makes a session of what other profilers wrote. Traces that stand for a process each become ranks. A file that cannot be read
// is a warning where others could be; without any the whole import fails, and leaves nothing behind.
core::Result<SessionOutcome> import(const ImportRequest& request, const Services& services);

// A kernel of a stored session, over all its devices.
struct TopKernel {
  std::string name, family, library;
  std::int64_t count = 0;
  std::int64_t sum_ns = 0;
};
// Largest time first; at most `limit`.
core::Result<std::vector<TopKernel>> top_kernels(const std::string& session_path, std::size_t limit);

}  // namespace aaco::workflows
