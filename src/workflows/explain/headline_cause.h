#pragma once

#include <string_view>

#include "core/json.h"

namespace aaco::workflows {

// What stands behind the class of a GPU headline, by what the session itself has: what the host did during the idle time, which
// family of kernels took the time, which copies or collectives were exposed. `gpu`: an entry of outcome.gpu.gpus; `straggler`:
// outcome.gpu.straggler. id, title and span_share_ratio, idle_ns and remedy where they apply; null: nothing is clear enough.
core::Json headline_cause(std::string_view class_id, bool unknown_kernels, const core::Json& gpu, const core::Json& straggler,
                          double span_ns);

// Idle time of a device in short gaps before copies and fills that are issued one by one.
double copy_issue_ns(const core::Json& gpu);
// The entry of copy_kinds that there are most of; null: there are none.
const core::Json* most_frequent_copy(const core::Json& gpu);

}  // namespace aaco::workflows
