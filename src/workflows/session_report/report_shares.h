#pragma once

#include <vector>

#include "core/environment.h"
#include "core/result.h"
#include "report/model.h"
#include "workflows/session/loaded_session.h"

namespace aaco::workflows {

// Where the time of an iteration went, from the profiled pass: parts, operators, nodes and one iteration's timeline.
core::Status fill_node_shares(report::ReportModel& model, LoadedSession& loaded, std::int64_t origin_ns);

// What each metric means, from data/metrics.
core::Result<std::vector<report::MetricDefinition>> metric_definitions(const core::Paths& paths);

}  // namespace aaco::workflows
