#pragma once

#include <optional>
#include <string>

#include "core/json.h"
#include "core/result.h"
#include "report/model.h"

namespace aaco::workflows {

// Of a sweep's metrics/sweep.json: its points in the order they ran, and the best point in words, with whether the intervals of
// others reach into its. Pure; empty where there is no point.
std::optional<report::Scaling> scaling_of(const core::Json& sweep);
// Adds it, and the verdict in words, to the report of a sweep. Nothing for other sessions.
core::Status fill_scaling(report::ReportModel& model, const std::string& session_path);

}  // namespace aaco::workflows
