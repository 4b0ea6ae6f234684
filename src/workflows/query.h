#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/environment.h"
#include "core/json.h"
#include "core/result.h"
#include "core/units.h"
#include "tracelake/lake.h"

namespace aaco::workflows {

struct QueryRequest {
  std::string sql;
  std::string format = "table";  // table, csv, json, parquet
  std::string output;            // file; empty: the answer is the result
  int width = 100;               // of the table
  std::optional<core::Nanoseconds> time_limit;
};

// The answer as text; with `output` the file's path and a line end.
core::Result<std::string> query(const QueryRequest& request, const core::Paths& paths);

// The answer in one of the formats table, csv and json.
std::string format_rows(const tracelake::QueryResult& result, const std::string& format, int width);

struct QueryLimits {
  std::size_t rows = 10'000;
  std::size_t bytes = 16 << 20;  // of cells as text
  core::Nanoseconds time{10'000'000'000};
};
struct QueryRows {
  core::Json rows = core::Json::array();  // objects, as `query --json` prints them
  bool truncated = false;                 // there are more than the limits allow
};
// The answer up to the limits, in bounded memory.
core::Result<QueryRows> query_rows(const std::string& sql, const QueryLimits& limits, const core::Paths& paths);
tl::unexpected<core::Error> query_too_slow(core::Nanoseconds limit);

}  // namespace aaco::workflows
