#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analytics/scheduling.h"
#include "core/result.h"
#include "trace/metric.h"
#include "trace/session.h"
#include "workflows/session/loaded_session.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// The session's sched_events in short; empty where there are none.
core::Result<analytics::scheduling::Summary> scheduling_summary(const std::string& session_path);

// Every metric that follows from the tables of a session under way (flush() first), `loaded` from its path.
// `items_per_iteration` is the batch. GPU sensors of one quantity are held against each other: outcome.sensors has each one's
// trust, and those that disagree a warning.
core::Result<trace::Metrics> table_metrics(SessionDraft& draft, LoadedSession& loaded, std::int64_t items_per_iteration);

}  // namespace aaco::workflows
