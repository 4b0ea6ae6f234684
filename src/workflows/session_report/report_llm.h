#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"
#include "report/model.h"

namespace aaco::workflows {

// The load levels, the slowest requests and the verdict of an llm session. Nothing for other sessions. `origin_ns`: what the
// report's times are relative to.
core::Status fill_llm(report::ReportModel& model, const std::string& session_path, std::int64_t origin_ns);

}  // namespace aaco::workflows
