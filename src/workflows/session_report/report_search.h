#pragma once

#include <string>

#include "core/json.h"
#include "core/result.h"
#include "report/model.h"

namespace aaco::workflows {

// The section of a search's metrics/optimize.json. Pure.
report::Search search_section(const core::Json& document);
// Adds it, and the verdict in words, to the report of a search. Nothing for other sessions.
core::Status fill_search(report::ReportModel& model, const std::string& session_path);

}  // namespace aaco::workflows
