#include "tracelake/query/views.h"

#include "core/strings.h"
#include "trace/tables.h"
#include "tracelake/duckdb/database.h"

namespace aaco::tracelake::query {
namespace {

using duckdb::identifier;
using duckdb::literal;

constexpr std::string_view kSessionColumns =
    "split_part(filename, '/', -P) AS session_id, CAST(split_part(filename, '/', -D) AS DATE) AS date";

}  // namespace

std::string escape_glob(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == '*' || c == '?' || c == '[')
      out += std::string("[") + c + "]";
    else
      out += c;
  }
  return out;
}

std::vector<ViewTable> view_tables() {
  std::vector<ViewTable> tables;
  trace::for_each_table([&tables]<class Row>() {
    tables.push_back({trace::TableOf<Row>::kName, trace::TableOf<Row>::kPath, store::TableReader<Row>::columns()});
  });
  return tables;
}

std::string view_statement(const ViewTable& table, const std::string& root, bool present) {
  std::string select;
  std::string schema;
  for (const store::FileColumn& column : table.columns) {
    const std::string name = identifier(column.name);
    const std::string type(column.sql_type);
    select += (present ? name : "CAST(NULL AS " + type + ") AS " + name) + ", ";
    schema += (schema.empty() ? "" : ", ") + literal(column.name) + ": {name: " + literal(column.name) +
              ", type: " + literal(type) + ", default_value: NULL}";
  }
  const std::string make = "CREATE OR REPLACE VIEW " + identifier(table.name) + " AS SELECT " + select;
  if (!present) return make + "CAST(NULL AS VARCHAR) AS session_id, CAST(NULL AS DATE) AS date WHERE false";
  const auto depth = static_cast<int>(core::split(table.path, '/').size());
  std::string session = core::replace_all(std::string(kSessionColumns), "P", std::to_string(depth + 1));
  session = core::replace_all(session, "-D", "-" + std::to_string(depth + 2));
  const std::string glob = escape_glob(root) + "/[0-9]*/[!.]*/" + std::string(table.path);
  return make + session + " FROM read_parquet(" + literal(glob) + ", filename = true, schema = MAP {" + schema + "})";
}

}  // namespace aaco::tracelake::query
