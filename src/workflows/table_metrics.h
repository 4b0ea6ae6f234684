#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "trace/metric.h"
#include "trace/session.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// Every metric that follows from the tables of a session under way (flush() first). `items_per_iteration` is the batch. GPU
// sensors of one quantity are held against each other: outcome.sensors has each one's trust, and those that disagree a warning.
core::Result<trace::Metrics> table_metrics(SessionDraft& draft, std::int64_t items_per_iteration);

}  // namespace aaco::workflows
