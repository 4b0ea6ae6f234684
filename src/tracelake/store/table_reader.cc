#include "tracelake/store/table_reader.h"

#include <algorithm>

namespace aaco::tracelake::store {

core::Result<std::string> select_columns(duckdb::Connection& connection, const std::string& file,
                                         const std::vector<FileColumn>& columns, const std::vector<Instead>& instead) {
  const std::string from = "read_parquet(" + duckdb::literal(file) + ")";
  AACO_ASSIGN(auto cursor, connection.query("SELECT * FROM " + from + " LIMIT 0"));
  std::vector<std::string> present;
  for (std::size_t i = 0; i < cursor.column_count(); ++i) present.push_back(cursor.column_name(i));
  std::string select;
  for (const FileColumn& column : columns) {
    const bool found = std::find(present.begin(), present.end(), column.name) != present.end();
    if (!found && column.required)
      return core::fail(core::ErrorCode::invalid_input,
                        file + " has no column " + std::string(column.name) + ", so it is not a table of this schema",
                        "run `aaco verify` on the session");
    const std::string name = duckdb::identifier(column.name);
    std::string value = found ? name : "NULL";
    for (const Instead& other : instead)
      if (other.column == column.name) value = other.sql;
    select += (select.empty() ? "SELECT CAST(" : ", CAST(") + value + " AS " + std::string(column.sql_type) + ") AS " + name;
  }
  return select + " FROM " + from;
}

}  // namespace aaco::tracelake::store
