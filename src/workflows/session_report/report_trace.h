#pragma once

#include <string>

#include "core/result.h"
#include "report/model.h"

namespace aaco::workflows {

// The timeline of a trace within the page's budget: the whole of it, and more detail around the longest gaps, a step and the
// kernels that take most of the time. Nothing where the session holds no events of a trace.
core::Status fill_trace(report::ReportModel& model, const std::string& session_path);

}  // namespace aaco::workflows
