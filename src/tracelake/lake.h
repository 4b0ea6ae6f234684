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

// What to read instead of a column: {"arguments", "NULL"} leaves a column out that a pass does not need.
struct Instead {
  std::string_view column;
  std::string_view sql;  // an expression over the table's columns
};

// The rows pulled instead of pushed, so that several tables can be followed side by side.
template <class Row>
class RowStream {
 public:
  virtual ~RowStream() = default;
  // The next rows in time order, empty at the end; they live until the next call.
  virtual core::Result<std::span<const Row>> next() = 0;
};
// `names` must outlive the stream. A table that the session lacks is a stream without rows.
template <class Row>
core::Result<std::unique_ptr<RowStream<Row>>> open_rows(const std::string& session_path, trace::NameTable& names,
                                                        const std::vector<Instead>& instead = {});

// A query's answer as text cells, for the faces. A cell is empty where it is NULL.
struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::string> types;  // SQL's names: BIGINT, DOUBLE, VARCHAR, BOOLEAN, DATE, "STRUCT(a INTEGER)", "JSON" ...
  std::vector<std::vector<std::optional<std::string>>> rows;
};

// How a cell of such a type is to be written: numbers and booleans as they stand, json as a JSON value, text quoted.
enum class CellKind { number, boolean, json, text };
CellKind cell_kind(std::string_view type);

// Takes an answer row by row; an error it returns ends the query.
class QueryVisitor {
 public:
  virtual ~QueryVisitor() = default;
  virtual core::Status begin(const std::vector<std::string>& columns, const std::vector<std::string>& types) = 0;
  virtual core::Status row(std::span<const std::optional<std::string>> cells) = 0;
};

// All whole sessions under one root as SQL: a view for each table of trace/tables.h, with session_id and date; `sessions`, one
// row a session (incomplete and damaged ones too, see its state); `metrics`, one row a metric of a session; `kernel_totals`, one
// row a total that a profiler wrote in place of events. A condition on session_id or date is decided before a file is opened.
//
// It only answers: statements that write, load or configure are refused, and files outside the root cannot be read.
// One thread at a time.
class Lake {
 public:
  // A root that does not exist is a lake without sessions.
  static core::Result<std::unique_ptr<Lake>> open(const std::string& root);
  virtual ~Lake() = default;
  // The whole answer in memory.
  virtual core::Result<QueryResult> query(std::string_view sql) = 0;
  // The same in bounded memory.
  virtual core::Status stream(std::string_view sql, QueryVisitor& visitor) = 0;
  // Runs the query straight into a file, which appears when it is whole.
  virtual core::Status query_to_parquet(std::string_view sql, const std::string& file) = 0;
};

}  // namespace aaco::tracelake
