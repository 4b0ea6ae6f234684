#pragma once

#include <string>

#include "core/json.h"
#include "core/result.h"
#include "trace/metric.h"
#include "workflows/import/import_read.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// What profilers wrote in place of events: totals by name, and program counters that were sampled.
bool has_totals(const Read& read);

// profiler/kernel_summary.json (docs/formats/kernel_summary.md), and what of it belongs to the outcome (`totals`). The lists move
// out of the files' facts. Where no kernel came, the metrics that totals can tell, and a warning of what they cannot. Call it
// when the tables are flushed.
core::Result<trace::Metrics> store_totals(Read& read, const ImportCounts& counts, SessionDraft& draft, const Services& services);

// What store_totals() wrote; null where a session has none.
core::Result<core::Json> read_kernel_summary(const std::string& session_path);

}  // namespace aaco::workflows
