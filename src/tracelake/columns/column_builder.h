#pragma once

#include <duckdb.h>

#include <string>
#include <vector>

#include "tracelake/columns.h"
#include "tracelake/duckdb/database.h"

namespace aaco::tracelake::columns {

// Whether a column of this type is read as it is; others are cast by SQL first.
bool is_direct(duckdb_type type);

// Gathers the chunks of a query's answer into columns.
class ColumnBuilder {
 public:
  // `types`: SQL's names, one for each column of the cursor.
  ColumnBuilder(duckdb::Cursor& cursor, const std::vector<std::string>& types);
  void append(const duckdb::DataChunk& chunk);
  [[nodiscard]] Columns take();

 private:
  Columns answer_;
  std::vector<duckdb_type> types_;
};

// Reads the cursor to its end.
core::Result<Columns> gather(duckdb::Cursor& cursor, const std::vector<std::string>& types);

}  // namespace aaco::tracelake::columns
