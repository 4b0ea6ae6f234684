#include "tracelake/query/statement.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <vector>

#include "core/strings.h"
#include "tracelake/query/cell_text.h"

namespace aaco::tracelake::query {
namespace {

using core::ErrorCode;

struct DestroyPrepared {
  void operator()(duckdb_prepared_statement statement) const { duckdb_destroy_prepare(&statement); }
};
using Prepared = std::unique_ptr<_duckdb_prepared_statement, DestroyPrepared>;

core::Result<Prepared> prepare(duckdb::Connection& connection, const std::string& sql) {
  duckdb_prepared_statement statement = nullptr;
  const bool good = duckdb_prepare(connection.get(), sql.c_str(), &statement) == DuckDBSuccess;
  Prepared owner(statement);
  if (!good) return duckdb::failure(duckdb_prepare_error(statement));
  return owner;
}

core::Status check_single(duckdb::Connection& connection, const std::string& sql) {
  duckdb_extracted_statements statements = nullptr;
  const idx_t count = duckdb_extract_statements(connection.get(), sql.c_str(), &statements);
  core::Status status;
  if (count == 0) {
    const char* message = duckdb_extract_statements_error(statements);
    status = message == nullptr ? core::fail(ErrorCode::invalid_argument, "no SQL statement", "try: SELECT * FROM sessions")
                                : duckdb::failure(message);
  } else if (count > 1) {
    status = core::fail(ErrorCode::invalid_argument, "only one statement at a time is supported, got " + std::to_string(count),
                        "run them one by one");
  }
  duckdb_destroy_extracted(&statements);
  return status;
}

// The statement without white space, comments before it and semicolons after it.
std::string_view trim_statement(std::string_view sql) {
  for (;;) {
    sql = core::trim(sql);
    if (sql.starts_with("--")) {
      sql.remove_prefix(std::min(sql.find('\n'), sql.size()));
    } else if (sql.starts_with("/*")) {
      const std::size_t end = sql.find("*/");
      sql.remove_prefix(end == std::string_view::npos ? sql.size() : end + 2);
    } else if (sql.ends_with(';')) {
      sql.remove_suffix(1);
    } else {
      return sql;
    }
  }
}

bool begins_a_question(std::string_view sql) {
  constexpr std::string_view kWords[] = {"select", "from",      "with", "values", "table",   "describe",
                                         "desc",   "summarize", "show", "pivot",  "unpivot", "explain"};
  std::size_t size = 0;
  while (size < sql.size() && std::isalpha(static_cast<unsigned char>(sql[size])) != 0) ++size;
  const std::string word = core::to_lower(sql.substr(0, size));
  return sql.starts_with('(') || std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

tl::unexpected<core::Error> not_a_question() {
  return core::fail(ErrorCode::permission, "only read-only statements are allowed: SELECT, DESCRIBE, SUMMARIZE, EXPLAIN",
                    "to save a result, use --format parquet, csv or json");
}

// Takes `word` (any case, as a whole word) from the front.
bool take_word(std::string_view& sql, std::string_view word) {
  const std::string_view text = core::trim(sql);
  if (text.size() <= word.size() || core::to_lower(text.substr(0, word.size())) != word) return false;
  const char next = text[word.size()];
  if (next != ' ' && next != '\t' && next != '\n' && next != '\r' && next != '(') return false;
  sql = core::trim(text.substr(word.size()));
  return true;
}

// What EXPLAIN explains.
std::string_view explained(std::string_view sql) {
  if (!take_word(sql, "explain")) return {};
  (void)take_word(sql, "analyze");
  if (sql.starts_with('(')) {
    const std::size_t end = sql.find(')');
    if (end == std::string_view::npos) return {};
    sql = core::trim(sql.substr(end + 1));
  }
  return sql;
}

std::string as_text(const std::string& name, const std::string& type) {
  const bool nested = type.ends_with(']') || type.starts_with("STRUCT") || type.starts_with("MAP") || type.starts_with("UNION");
  return (nested ? "CAST(to_json(" + name + ") AS VARCHAR)" : "CAST(" + name + " AS VARCHAR)");
}

// SQL's name of a column's type, if it is one of those that cell_text() can write.
std::string column_type(duckdb_prepared_statement statement, idx_t column) {
  duckdb_logical_type type = duckdb_prepared_statement_column_logical_type(statement, column);
  char* alias = duckdb_logical_type_get_alias(type);  // JSON is a text with another name
  std::string name = alias != nullptr ? alias : std::string(type_name(duckdb_get_type_id(type)));
  duckdb_free(alias);
  duckdb_destroy_logical_type(&type);
  return name;
}

// DESCRIBE names the type of every column, whatever it is.
core::Result<std::vector<std::string>> described_types(duckdb::Connection& connection, const std::string& sql) {
  AACO_ASSIGN(auto cursor, connection.query("SELECT column_type FROM (DESCRIBE " + sql + "\n)"));
  std::vector<std::string> types;
  for (;;) {
    AACO_ASSIGN(const auto chunk, cursor.next());
    if (!chunk.valid() || chunk.size() == 0) return types;
    for (std::size_t row = 0; row < chunk.size(); ++row)
      types.push_back(cell_text(chunk.column(0), DUCKDB_TYPE_VARCHAR, row).value_or(""));
  }
}

}  // namespace

core::Result<Statement> parse_statement(duckdb::Connection& connection, std::string_view sql) {
  if (sql.find('\0') != std::string_view::npos) return core::fail(ErrorCode::invalid_argument, "the SQL contains a NUL byte");
  Statement statement{std::string(trim_statement(sql)), {}};
  if (core::Status single = check_single(connection, statement.text); !single) {
    // DuckDB's reader knows the statement and does not run it, such as RESET ALL: no part of AACO is missing.
    if (single.error().code == ErrorCode::unsupported) return not_a_question();
    return tl::unexpected(std::move(single).error());
  }
  statement.explained = explained(statement.text);
  if (!begins_a_question(statement.text)) return not_a_question();
  if (!statement.explained.empty() && !begins_a_question(statement.explained)) return not_a_question();
  return statement;
}

core::Status check_statement(duckdb::Connection& connection, const Statement& statement) {
  AACO_ASSIGN(const Prepared prepared, prepare(connection, statement.explained.empty() ? statement.text : statement.explained));
  if (duckdb_prepared_statement_type(prepared.get()) != DUCKDB_STATEMENT_TYPE_SELECT) return not_a_question();
  return {};
}

namespace {

using Cast = std::string (*)(const std::string& name, const std::string& type);

core::Result<Plan> plan_with(duckdb::Connection& connection, const Statement& statement, bool (*direct)(duckdb_type), Cast cast) {
  AACO_ASSIGN(const Prepared prepared, prepare(connection, statement.text));
  Plan plan{statement.text, {}, {}};
  bool plain = true;
  const idx_t count = duckdb_prepared_statement_column_count(prepared.get());
  for (idx_t i = 0; i < count; ++i) {
    const char* name = duckdb_prepared_statement_column_name(prepared.get(), i);
    plan.columns.emplace_back(name == nullptr ? "" : name);
    duckdb_free(const_cast<char*>(name));
    const duckdb_type type = duckdb_prepared_statement_column_type(prepared.get(), i);
    plain = plain && direct(type);
    plan.types.push_back(column_type(prepared.get(), i));
  }
  if (plain || !statement.explained.empty()) return plan;

  AACO_ASSIGN(plan.types, described_types(connection, statement.text));
  if (plan.types.size() != count)
    return core::fail(ErrorCode::invalid_argument, "the result columns of this statement have no types", "cast them to text");
  std::string select;
  std::string names;
  for (idx_t i = 0; i < count; ++i) {
    const std::string name = "c" + std::to_string(i);
    const bool as_is = direct(duckdb_prepared_statement_column_type(prepared.get(), i));
    select += (i > 0 ? ", " : "") + (as_is ? name : cast(name, plan.types[i]));
    names += (i > 0 ? ", " : "") + name;
  }
  plan.sql = "SELECT " + select + " FROM (" + statement.text + "\n) AS answer(" + names + ")";
  return plan;
}

std::string as_typed(const std::string& name, const std::string& type) {
  if ((type.starts_with("DECIMAL") || type == "UHUGEINT") && !type.ends_with(']')) return "CAST(" + name + " AS DOUBLE)";
  if (type.starts_with("TIMESTAMP") && !type.ends_with(']')) return "CAST(" + name + " AS TIMESTAMP)";
  return as_text(name, type);
}

}  // namespace

core::Result<Plan> plan_statement(duckdb::Connection& connection, const Statement& statement) {
  return plan_with(connection, statement, &has_text, &as_text);
}

core::Result<Plan> plan_columns(duckdb::Connection& connection, const Statement& statement, bool (*direct)(duckdb_type)) {
  return plan_with(connection, statement, direct, &as_typed);
}

}  // namespace aaco::tracelake::query
