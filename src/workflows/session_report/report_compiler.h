#pragma once

#include <string>

#include "core/json.h"
#include "core/result.h"
#include "report/model.h"

namespace aaco::workflows {

// The section of metrics/compiler.json (docs/formats/compiler.md). Pure.
report::Compiler compiler_section(const core::Json& document);
// Adds it, and the verdict in words, to the report of `aaco compiler`. Nothing for other sessions.
core::Status fill_compiler(report::ReportModel& model, const std::string& session_path);

}  // namespace aaco::workflows
