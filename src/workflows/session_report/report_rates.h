#pragma once

#include <string>

#include "core/result.h"
#include "report/model.h"

namespace aaco::workflows {

// Sections of rates: work of kernels and operators, collectives. Nothing for sessions without these tables.
core::Status fill_work_rates(report::ReportModel& model, const std::string& session_path);
core::Status fill_collectives(report::ReportModel& model, const std::string& session_path);

}  // namespace aaco::workflows
