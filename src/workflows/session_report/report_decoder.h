#pragma once

#include <string>

#include "core/result.h"
#include "report/model.h"

namespace aaco::workflows {

// Prefill, decode and the verdict of a language model that ran in process. Nothing for other sessions.
core::Status fill_decoder(report::ReportModel& model, const std::string& session_path);

}  // namespace aaco::workflows
