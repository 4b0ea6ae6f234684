#pragma once

#include <string>

#include "core/environment.h"
#include "core/result.h"
#include "report/model.h"
#include "workflows/session/loaded_session.h"

namespace aaco::workflows {

// The report's section on the GPUs (sections.gpu): a line a device with what limits it and its launch tax in its band, kernel
// families by time, the convention that the numbers follow. Needs the kernels' families in model.session.outcome.
core::Status fill_gpu_section(report::ReportModel& model, const std::string& session_path, const core::Paths& paths);

// The devices' work of one iteration (the median step; without steps the beginning of the trace) as spans of the timeline strip.
core::Status fill_gpu_strip(report::ReportModel& model, LoadedSession& loaded);

// Where the steps' ranges do not touch each other: their own time, and the time from one to the next. Empty where they do.
std::string period_of(const report::ReportModel& model);

}  // namespace aaco::workflows
