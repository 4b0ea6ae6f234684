#include "tracelake/store/table_reader.h"

#include <algorithm>

#include "trace/session.h"
#include "tracelake/store/parquet_copy.h"
#include "tracelake/store/parquet_part.h"

namespace aaco::tracelake::store {
namespace {

// What the file says of itself; a file that says nothing is of the first version.
core::Result<int> file_schema_version(duckdb::Connection& connection, const std::string& file) {
  AACO_ASSIGN(auto cursor,
              connection.query("SELECT coalesce(TRY_CAST(CAST(value AS VARCHAR) AS BIGINT), 0) FROM "
                               "parquet_kv_metadata(" +
                               duckdb::literal(file) + ") WHERE CAST(key AS VARCHAR) = " + duckdb::literal(kSchemaVersionKey)));
  AACO_ASSIGN(const auto chunk, cursor.next());
  if (!chunk.valid() || chunk.size() == 0) return 1;
  const auto version = *static_cast<const std::int64_t*>(duckdb_vector_get_data(chunk.column(0)));
  if (version < 1 || version > trace::kSessionSchemaVersion)
    return core::fail(core::ErrorCode::unsupported, file + " has a schema version that this version of aaco does not support",
                      "use the aaco version that wrote it, or a newer one");
  return static_cast<int>(version);
}

}  // namespace

core::Result<std::string> select_columns(duckdb::Connection& connection, const std::string& file,
                                         const std::vector<FileColumn>& columns, const std::vector<Instead>& instead) {
  const std::string from = "read_parquet(" + duckdb::literal(file) + ")";
  std::vector<std::string> present = parquet_columns(file);
  if (present.empty()) {
    AACO_ASSIGN(auto cursor, connection.query("SELECT * FROM " + from + " LIMIT 0"));
    for (std::size_t i = 0; i < cursor.column_count(); ++i) present.push_back(cursor.column_name(i));
  }
  const bool whole = present.size() >= columns.size();
  int version = trace::kSessionSchemaVersion;
  if (!whole) {
    AACO_ASSIGN(version, file_schema_version(connection, file));
  }
  std::string select;
  for (const FileColumn& column : columns) {
    const bool found = std::find(present.begin(), present.end(), column.name) != present.end();
    if (!found && column.required && column.since <= version)
      return core::fail(core::ErrorCode::invalid_input,
                        file + " has no column " + std::string(column.name) + ", so it does not match this table's schema",
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
