#include <algorithm>
#include <cstring>
#include <utility>

#include "core/files.h"
#include "core/strings.h"
#include "trace/tables.h"
#include "tracelake/columns.h"
#include "tracelake/columns/column_builder.h"
#include "tracelake/store/table_reader.h"

namespace aaco::tracelake {
namespace {

struct StoredTable {
  std::string_view name, path, time;
  std::vector<store::FileColumn> columns;
};

std::vector<StoredTable> stored_tables() {
  std::vector<StoredTable> tables;
  trace::for_each_table([&tables]<class Row>() {
    using Table = trace::TableOf<Row>;
    tables.push_back({Table::kName, Table::kPath, Table::kTime, store::TableReader<Row>::columns()});
  });
  return tables;
}

bool in_order(const Columns& table, std::string_view time) {
  const auto column =
      std::find_if(table.columns.begin(), table.columns.end(), [&](const Column& one) { return one.name == time; });
  if (column == table.columns.end() || column->kind != ColumnKind::int64) return true;
  const auto at = [&](std::size_t row) {
    std::int64_t value = 0;
    std::memcpy(&value, column->values.data() + row * sizeof value, sizeof value);
    return value;
  };
  for (std::size_t row = 1; row < table.rows; ++row)
    if (at(row) < at(row - 1)) return false;
  return true;
}

core::Result<Columns> read_file(const std::string& file, const StoredTable& table) {
  AACO_ASSIGN(auto connection, duckdb::connect_reader());
  AACO_ASSIGN(std::string sql, store::select_columns(connection, file, table.columns));
  std::vector<std::string> types;
  for (const store::FileColumn& column : table.columns) types.emplace_back(column.sql_type);
  const auto read = [&](const std::string& statement) -> core::Result<Columns> {
    AACO_ASSIGN(auto cursor, connection.query(statement));
    return columns::gather(cursor, types);
  };
  AACO_ASSIGN(Columns rows, read(sql));
  if (table.time.empty() || in_order(rows, table.time)) return rows;
  return read(sql + " ORDER BY " + duckdb::identifier(table.time));
}

}  // namespace

core::Result<Columns> read_columns(const std::string& session_path, std::string_view table) {
  if (!core::is_directory(session_path)) return core::fail(core::ErrorCode::not_found, session_path + ": no such session");
  const auto tables = stored_tables();
  const auto found = std::find_if(tables.begin(), tables.end(), [&](const StoredTable& one) { return one.name == table; });
  const std::string there = core::join(tables_of(session_path), ", ");
  const std::string remedy = there.empty() ? "this session has no tables" : "tables of this session: " + there;
  if (found == tables.end()) return core::fail(core::ErrorCode::not_found, "unknown table '" + std::string(table) + "'", remedy);
  const std::string file = core::join_path(session_path, found->path);
  if (!core::exists(file))
    return core::fail(core::ErrorCode::not_found, "this session has no table '" + std::string(table) + "'", remedy);
  auto read = read_file(file, *found);
  if (read) return read;
  core::Error error = std::move(read).error();
  error.message.resize(std::min(error.message.size(), error.message.find('\n')));  // without our own statement
  if (error.remedy.empty()) error.remedy = "run `aaco verify SESSION` to list the damaged files";
  return tl::unexpected<core::Error>(std::move(error).with("reading " + file));
}

std::vector<std::string> tables_of(const std::string& session_path) {
  std::vector<std::string> names;
  for (const StoredTable& table : stored_tables())
    if (core::exists(core::join_path(session_path, table.path))) names.emplace_back(table.name);
  return names;
}

}  // namespace aaco::tracelake
