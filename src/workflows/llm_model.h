#pragma once

#include <vector>

#include "core/result.h"
#include "hardware/fingerprint.h"
#include "workflows/llm_model_request.h"
#include "workflows/services.h"
#include "workflows/session_outcome.h"

namespace aaco::workflows {

// Measures prefill and decode and stores a session of kind llm. Fails with unsupported for a model without a cache of a known
// layout, invalid_argument for sizes the model cannot take, exhausted where they do not fit in memory.
core::Result<SessionOutcome> llm_model(const LlmModelRequest& request, const Services& services);

// What of its main level must be equal for two of these sessions to be compared; measures nothing.
std::vector<hardware::Fact> llm_model_facts(const LlmModelRequest& request);

}  // namespace aaco::workflows
