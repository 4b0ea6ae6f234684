#pragma once

#include <string>

#include "core/result.h"
#include "report/model.h"

namespace aaco::workflows {

// The load levels, the slowest requests and the verdict of an llm session. Nothing for other sessions.
core::Status fill_llm(report::ReportModel& model, const std::string& session_path);

}  // namespace aaco::workflows
