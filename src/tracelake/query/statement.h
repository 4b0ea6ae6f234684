#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "tracelake/duckdb/database.h"

namespace aaco::tracelake::query {

struct Statement {
  std::string text;       // without white space, comments and semicolons around it
  std::string explained;  // what an EXPLAIN is about; empty for any other
};

// Lets through one statement that only asks, judged by its words alone: preparing some statements already writes.
core::Result<Statement> parse_statement(duckdb::Connection& connection, std::string_view sql);
// Then by DuckDB's own judgement: SELECT (also as FROM, WITH, VALUES, DESCRIBE, SUMMARIZE), or EXPLAIN of one.
core::Status check_statement(duckdb::Connection& connection, const Statement& statement);

// The same statement with every column as text or number: types cell_text() cannot write become text (nested ones JSON).
struct Plan {
  std::string sql;
  std::vector<std::string> columns;
  std::vector<std::string> types;
};
core::Result<Plan> plan_statement(duckdb::Connection& connection, const Statement& statement);

// The same with typed columns: `direct` says which types are read as they are; decimals become doubles, times with another
// resolution or a zone microseconds, everything else text. `types` are those of the answer.
core::Result<Plan> plan_columns(duckdb::Connection& connection, const Statement& statement, bool (*direct)(duckdb_type));

}  // namespace aaco::tracelake::query
