#pragma once

#include <string>

#include "core/result.h"
#include "report/model.h"

namespace aaco::workflows {

// "Why" and "what to do" of a report, from metrics/bottleneck.json; nothing where the session has none.
core::Status fill_insight(report::ReportModel& model, const std::string& session_path);

}  // namespace aaco::workflows
