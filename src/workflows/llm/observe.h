#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "workflows/llm/levels.h"
#include "workflows/llm_causes/observed.h"

namespace aaco::workflows {

// Before the load: the recording exists and can still cover it. Fails with not_found, or with invalid_input on what is not a
// recording and on one that has ended.
core::Status check_observed(const std::string& name, const Services& services);

// A recording of the server's machine, named on the command line: waits while it is under way, at most a minute.
// Its rows within the load go to the draft's sink.
core::Result<ObservedServer> join_observed(const std::string& name, const std::vector<RanLevel>& levels, SessionDraft& draft,
                                           const Services& services);

}  // namespace aaco::workflows
