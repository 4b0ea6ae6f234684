#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::tracelake {

// The rows of one table of a session (empty where the table is absent), sorted by the table's time column. Names are interned
// into `names`. Instantiated for every row of trace/tables.h.
template <class Row>
core::Result<std::vector<Row>> read_table(const std::string& session_path, trace::NameTable& names);

// The same in bounded memory: `visit` is called with one batch after another, in time order; an error it returns ends the scan.
template <class Row>
core::Status scan_table(const std::string& session_path, trace::NameTable& names,
                        const std::function<core::Status(std::span<const Row>)>& visit);

// A query's answer as text cells, for the faces.
struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::string> types;
  std::vector<std::vector<std::optional<std::string>>> rows;
};

// All sessions under one root as SQL views: one view a table (trace/tables.h), each with session_id and date columns, and
// `sessions`.
class Lake {
 public:
  static core::Result<std::unique_ptr<Lake>> open(const std::string& root);
  virtual ~Lake() = default;
  virtual core::Result<QueryResult> query(std::string_view sql) = 0;
  // Runs the query straight into a file.
  virtual core::Status query_to_parquet(std::string_view sql, const std::string& file) = 0;
};

}  // namespace aaco::tracelake
