#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "runner/profilers.h"
#include "trace/metric.h"
#include "workflows/graph_nodes.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

struct GpuProfileRequest {
  std::vector<std::string> command;  // the workload, executed again
  std::vector<std::string> domains = runner::profilers::default_domains();
  std::vector<std::string> counters;
  std::int64_t timeout_ns = 0;  // of each execution; then it is killed, and what was written is imported
  bool keep_steps = true;       // false where the session has iterations already: those of the pass are not among them
  GraphNodes graph;             // that the kernels are of; empty: the session's own, where its tables have one
};

// What --profile-domains and --counters ask for, both as the user wrote them; empty texts: the usual domains, no counters.
core::Result<GpuProfileRequest> gpu_profile_request(const std::string& domains, const std::string& counters);

// How long an execution under the profiler may take whose measured one took `wall_ns`: profilers slow programs down.
std::int64_t profile_timeout_ns(std::int64_t wall_ns);

// Executes the workload again under the profiler, into profiler/rocprof_raw of the draft's bundle, and imports what it wrote:
// rows, accounts, warnings and the outcome's "gpu" and "gpu_profile". Trouble of the profiler or the workload is a warning: what
// was measured before stays. The metrics are those of the GPUs. Fails where the bundle cannot be written.
core::Result<trace::Metrics> gpu_profile_pass(const GpuProfileRequest& request, const runner::profilers::Profiler& profiler,
                                              SessionDraft& draft, const Services& services);

}  // namespace aaco::workflows
