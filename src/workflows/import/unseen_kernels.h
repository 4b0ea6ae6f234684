#pragma once

#include <cstdint>

#include "importers/grouping.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// Warns that launches were traced and kernels were not, where no importer has.
void warn_of_unseen_kernels(std::int64_t launches, const importers::grouping::Inputs& inputs, SessionDraft& draft);

}  // namespace aaco::workflows
