#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "hardware/fingerprint.h"
#include "workflows/llm_request.h"
#include "workflows/services.h"
#include "workflows/session_outcome.h"

namespace aaco::workflows {

struct LlmOutcome {
  SessionOutcome session;
  bool all_failed = false;     // no measured request has a complete answer, although nobody ended them
  bool all_cancelled = false;  // --cancel-after or the user ended them all, as asked
  std::string failure;         // without a complete answer: what the server said, or what happened
  std::string definitions;     // a table of the figures as other tools define them, where it was asked for
};

// Measures a server and stores the session. Fails with invalid_argument on a request that is wrong, and otherwise where the
// server cannot be reached or refuses the first request.
core::Result<LlmOutcome> llm(const LlmRequest& request, const Services& services);

// What must be equal for two loads to be comparable, as far as it is known before anything is sent: the model is empty where the
// server is to name it.
core::Result<std::vector<hardware::Fact>> llm_facts(const LlmRequest& request, const Services& services);

// Makes a session of the requests of a killed load that had ended, from its journal, and removes the incomplete one. Fails with
// invalid_input on another session, with conflict while it is measured, with not_found where it has no journal.
core::Result<LlmOutcome> recover_llm(const std::string& session, const Services& services);

}  // namespace aaco::workflows
