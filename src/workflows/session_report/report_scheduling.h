#pragma once

#include <string>

#include "core/result.h"
#include "report/model.h"

namespace aaco::workflows {

// sections.operating_system: what sched_events says, by thread and by reason. Nothing where the scheduler was not watched.
core::Status fill_scheduling(report::ReportModel& model, const std::string& session_path);

}  // namespace aaco::workflows
