#pragma once

#include <optional>

#include "analytics/host_profile.h"
#include "core/environment.h"
#include "core/json.h"
#include "core/result.h"
#include "trace/session.h"
#include "workflows/explain/operator_times.h"

namespace aaco::workflows {

// What limits an imported trace without device work, as metrics/bottleneck.json: loading data, exposed collectives or another
// cause of data/gaps where it took the largest part of the main thread's time. Where operators did, the document is inconclusive:
// such a trace has no counters of the processor. Null: another judge decides.
core::Result<core::Json> judge_host(const std::string& path, const trace::SessionManifest& manifest, const core::Paths& paths);

// The document of the main threads' time. `operators`: what they do; null: unknown.
core::Json host_document(const analytics::gaps::HostWork& work, const analytics::gaps::CauseBook& book,
                         const OperatorTimes* operators = nullptr);

}  // namespace aaco::workflows
