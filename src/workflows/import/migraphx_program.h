#pragma once

#include <vector>

#include "importers/importer.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// runtime/migraphx_partition.json: what MIGraphX made of the model, where a program was imported.
core::Status store_partition(const std::vector<importers::ImportResult>& results, SessionDraft& draft);

}  // namespace aaco::workflows
