#pragma once

#include <optional>

#include "report/model.h"

namespace aaco::workflows {

// What the GPU runtime calls of `record --hooks` say; empty: none were recorded.
std::optional<report::Statement> gpu_calls_statement(const report::ReportModel& model);

}  // namespace aaco::workflows
