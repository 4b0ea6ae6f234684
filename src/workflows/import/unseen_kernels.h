#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"
#include "importers/grouping.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// Calls that launch kernels or graphs on a GPU, in the tables of a session. In one without kernels they say that the profiler
// did not see the work, so that no time of the GPU can be told from the rest.
core::Result<std::int64_t> count_launches(const std::string& session_path);

// Says so, where no importer has.
void warn_of_unseen_kernels(std::int64_t launches, const importers::grouping::Inputs& inputs, SessionDraft& draft);

}  // namespace aaco::workflows
