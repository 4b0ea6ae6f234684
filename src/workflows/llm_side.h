#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "hardware/fingerprint.h"
#include "workflows/llm.h"
#include "workflows/llm_model_request.h"
#include "workflows/services.h"
#include "workflows/session_outcome.h"

namespace aaco::workflows {

// One side of a comparison of `aaco llm`: a load on a server, or a decoder in this process.
using LlmSide = std::variant<LlmRequest, LlmModelRequest>;

// Measures it and stores a session. Fails with io where no request succeeded.
core::Result<SessionOutcome> measure_llm(const LlmSide& side, const Services& services);

// What must be equal for sessions of two sides to be compared, as far as it is known before anything is measured.
core::Result<std::vector<hardware::Fact>> facts_of(const LlmSide& side, const Services& services);

// From the request in a session's session.json; `run`: what it says of the model in this process. Fails with invalid_input where
// the session does not say enough: a load from a file has the file's name only.
core::Result<LlmSide> llm_side_from_json(const core::Json& document, const RunRequest& run);
[[nodiscard]] bool is_llm_request(const core::Json& document);

std::string& tag_of(LlmSide& side);
// Neither a number of requests nor a duration is given.
[[nodiscard]] bool has_no_length(const LlmSide& side);
void set_duration(LlmSide& side, std::int64_t duration_ns);

}  // namespace aaco::workflows
