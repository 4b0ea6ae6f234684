#pragma once

#include "core/json.h"
#include "workflows/ab_request.h"

namespace aaco::workflows {

core::Json to_json(const AbOutcome& outcome, const AbRequest& request);

}  // namespace aaco::workflows
