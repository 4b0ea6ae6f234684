#pragma once

#include <optional>
#include <string>

#include "core/environment.h"
#include "core/result.h"
#include "report/model.h"
#include "workflows/session/loaded_session.h"
#include "workflows/session_report/verdict.h"

namespace aaco::workflows {

// The GPU's share of a report, from the session's kernel groups, attribution and gaps: kernels, the parts of the one bar (where
// no node executions filled it), and the sections attribution and gaps. Nothing where the session has no kernels.
core::Status fill_gpu(report::ReportModel& model, LoadedSession& loaded, const core::Paths& paths);

// The verdict on an imported trace of GPUs: how busy they were, what bound the least busy one, and how much of the kernel time is
// attributed. Empty for other sessions.
std::optional<VerdictText> gpu_verdict(const report::ReportModel& model);

}  // namespace aaco::workflows
