#pragma once

#include "core/json.h"
#include "workflows/envelope.h"

namespace aaco::workflows {

core::Json to_json(const EnvelopeOutcome& outcome, const EnvelopeRequest& request);

}  // namespace aaco::workflows
