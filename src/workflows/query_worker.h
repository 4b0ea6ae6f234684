#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "workflows/query.h"

namespace aaco::workflows {

inline constexpr std::int64_t kQueryMemoryBytes = std::int64_t{768} << 20;  // of the process of one query

// query_rows() in a process of its own, `worker`, whose memory is limited: DuckDB's own limit leaves out the values of a query,
// and a single one may have gigabytes. The process is killed once it exceeds the time limit, also inside one function call.
core::Result<QueryRows> query_in_worker(const std::string& sql, const QueryLimits& limits,
                                        const std::vector<std::string>& worker);

// The worker: limits its memory, reads one line with the query, and answers with one line.
core::Status serve_query(const core::Paths& paths);

}  // namespace aaco::workflows
