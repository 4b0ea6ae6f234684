#pragma once

#include <cstdint>
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

// The same in bounded memory: calls `visit` with one batch after another, in time order; an error it returns stops the scan.
template <class Row>
core::Status scan_table(const std::string& session_path, trace::NameTable& names,
                        const std::function<core::Status(std::span<const Row>)>& visit);

// Replaces a column: {"arguments", "NULL"} skips a column that a pass does not need.
struct Instead {
  std::string_view column;
  std::string_view sql;  // an expression over the table's columns
};

// A column of integers whose value lies between two bounds, these included.
struct Between {
  std::string_view column;
  std::int64_t low = INT64_MIN, high = INT64_MAX;
};
struct Condition {
  std::vector<Between> between;  // all hold; row groups that they rule out cost nothing, however large the table is
  std::string sql;               // over the table's columns; empty: none
};

// Pull-based reading, so that several tables can be read side by side.
template <class Row>
class RowStream {
 public:
  virtual ~RowStream() = default;
  // The next rows in time order, empty at the end; valid until the next call.
  virtual core::Result<std::span<const Row>> next() = 0;
};
// `names` must outlive the stream. A missing table is a stream without rows.
template <class Row>
core::Result<std::unique_ptr<RowStream<Row>>> open_rows(const std::string& session_path, trace::NameTable& names,
                                                        const std::vector<Instead>& instead = {});

// The rows of a table for which the condition holds.
template <class Row>
core::Status scan_where(const std::string& session_path, trace::NameTable& names, const Condition& where,
                        const std::vector<Instead>& instead, const std::function<core::Status(std::span<const Row>)>& visit);

// A query result as text cells, for the user interfaces. NULL cells are empty.
struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::string> types;  // SQL's names: BIGINT, DOUBLE, VARCHAR, BOOLEAN, DATE, "STRUCT(a INTEGER)", "JSON" ...
  std::vector<std::vector<std::optional<std::string>>> rows;
};

// How to write a cell of this type: numbers and booleans verbatim, json as a JSON value, text quoted.
enum class CellKind { number, boolean, json, text };
CellKind cell_kind(std::string_view type);

// Receives a result row by row; an error it returns stops the query.
class QueryVisitor {
 public:
  virtual ~QueryVisitor() = default;
  virtual core::Status begin(const std::vector<std::string>& columns, const std::vector<std::string>& types) = 0;
  virtual core::Status row(std::span<const std::optional<std::string>> cells) = 0;
};

// All complete sessions under one root as SQL: a view for each table of trace/tables.h, with session_id and date; `sessions`, one
// row per session (including incomplete and damaged ones, see state); `metrics`, one row per session and metric; `kernel_totals`,
// one row per total that a profiler wrote instead of events; `environment`, one row per value of env.json. Filters on session_id
// and date apply before files are opened.
//
// Read-only: statements that write, load or configure are refused, and files outside the root cannot be read.
// One thread at a time; interrupt() from any.
class Lake {
 public:
  // A root that does not exist is a lake without sessions.
  static core::Result<std::unique_ptr<Lake>> open(const std::string& root);
  virtual ~Lake() = default;
  // The complete result in memory.
  virtual core::Result<QueryResult> query(std::string_view sql) = 0;
  // The same in bounded memory.
  virtual core::Status stream(std::string_view sql, QueryVisitor& visitor) = 0;
  // Ends the query that runs on another thread: it fails.
  virtual void interrupt() = 0;
  // Writes the result directly to a file, which appears when complete.
  virtual core::Status query_to_parquet(std::string_view sql, const std::string& file) = 0;
};

}  // namespace aaco::tracelake
