#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "trace/metric.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// Whether the paths hold a trace that was written since.
bool has_new_trace(const std::vector<std::string>& paths, std::int64_t not_before_realtime_ns);

// `record --hooks --trace`: imports what the command's own profiler wrote into the draft, whose hooked calls are flushed and have
// correlation ids. Kernels and copies get the id of the hooked call that launched them: by the call of the trace that has their
// correlation id where there is one, else by their order on each stream. What could not be joined is counted in the outcome's
// "gpu_calls" under "joined", and warned of. Also sets the outcome's "gpu"; the metrics are those of the GPUs and of the join.
// Trouble with the files is a warning: what was recorded stays. Fails where the bundle cannot be written, or when interrupted.
// `not_before_realtime_ns`: files that were last changed earlier are of another run, and are skipped.
core::Result<trace::Metrics> import_hooked_trace(const std::vector<std::string>& paths, std::int64_t not_before_realtime_ns,
                                                 SessionDraft& draft, const Services& services);

}  // namespace aaco::workflows
