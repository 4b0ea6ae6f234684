#pragma once

#include <optional>
#include <string>

#include "core/environment.h"
#include "core/result.h"
#include "core/units.h"

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

}  // namespace aaco::workflows
