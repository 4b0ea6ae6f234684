#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/environment.h"
#include "core/result.h"
#include "tracelake/arrow.h"
#include "tracelake/columns.h"

namespace aaco::workflows {

// The answer of a query over all sessions as typed columns; fails with cancelled once `stop` is set. Null: it cannot be stopped.
core::Result<tracelake::Columns> query_columns(const std::string& sql, const core::Paths& paths,
                                               const std::atomic<bool>* stop = nullptr);

// The tables of a session, by the names that SQL has for them, and one of them.
std::vector<std::string> session_tables(const std::string& session_path);
core::Result<tracelake::Columns> session_columns(const std::string& session_path, const std::string& table);

}  // namespace aaco::workflows
