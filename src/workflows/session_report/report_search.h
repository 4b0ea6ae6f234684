#pragma once

#include <string>

#include "core/json.h"
#include "core/result.h"
#include "report/model.h"

namespace aaco::workflows {

// Of a search's metrics/optimize.json: the baseline and what was tried, fastest first, as points of the scaling section. Pure.
report::Scaling search_points(const core::Json& document);
// Adds it, and the verdict in words, to the report of a search. Nothing for other sessions.
core::Status fill_search(report::ReportModel& model, const std::string& session_path);

}  // namespace aaco::workflows
