#pragma once

#include <string>
#include <vector>

#include "importers/importer.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// A session has one model: of several printed programs the one that says most is taken (a performance report before a compiled
// program before one that was only read; of several alike the first). Its place in the list.
std::size_t choose_program(const std::vector<std::string>& paths);

// runtime/migraphx_partition.json: what MIGraphX made of the model, where a program was imported.
core::Status store_partition(const std::vector<importers::ImportResult>& results, SessionDraft& draft);

}  // namespace aaco::workflows
