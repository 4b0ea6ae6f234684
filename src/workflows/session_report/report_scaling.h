#pragma once

#include <string>

#include "core/json.h"
#include "core/result.h"
#include "report/model.h"

namespace aaco::workflows {

// extra.scaling of a sweep's session, from its metrics/sweep.json: `summary` (the best point in words, and whether the others'
// intervals reach into its), and `points` in the order they ran: label (what was swept), session_id or error, backend, batch?,
// threads?, dimensions?, median_ns, p90_ns?, items_per_second, each of median and items with its interval as *_low and *_high,
// relative_ratio (items a second over the first point that ran). Pure; null where there is no point.
core::Json scaling_of(const core::Json& sweep);
// Adds it, and the verdict in words, to the report of a sweep. Nothing for other sessions.
core::Status fill_scaling(report::ReportModel& model, const std::string& session_path);

}  // namespace aaco::workflows
