#pragma once

#include <optional>

#include "report/model.h"
#include "workflows/device_roofs.h"
#include "workflows/predict/session_estimates.h"

namespace aaco::workflows {

// The section "attainable" of the report: each measured node beside its attainable time, the gap and its reason, and the whole
// beside its prediction; surprises, whose time lies outside the prediction's interval, are flagged. Fills the roofline too where
// nothing else has; `roofs`: of the device of the summary, empty where the registry no longer has it.
void fill_attainable(report::ReportModel& model, const SessionEstimates& estimates,
                     const std::optional<DeviceRoofs>& roofs = std::nullopt);

}  // namespace aaco::workflows
