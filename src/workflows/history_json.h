#pragma once

#include "core/json.h"
#include "workflows/history.h"

namespace aaco::workflows {

core::Json to_json(const HistoryOutcome& outcome, const HistoryRequest& request);

}  // namespace aaco::workflows
