#include "tracelake/lake.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>

#include "core/files.h"
#include "tracelake/bundle.h"
#include "tracelake/columns.h"
#include "tracelake/columns/column_builder.h"
#include "tracelake/query/catalog.h"
#include "tracelake/query/cell_text.h"
#include "tracelake/query/statement.h"
#include "tracelake/query/views.h"

namespace aaco::tracelake {
namespace {

using core::ErrorCode;

constexpr std::int64_t kMemoryLimitBytes = std::int64_t{1} << 30;
constexpr double kShareOfProcessLimit = 0.6;  // what else a process needs: code's data, stacks, the values that are returned
constexpr unsigned kMaxThreads = 8;

// Less where the process itself is limited (setrlimit, ulimit -d), so that DuckDB spills to disk before an allocation fails.
std::int64_t memory_limit() {
  rlimit data{};
  if (::getrlimit(RLIMIT_DATA, &data) != 0 || data.rlim_cur == RLIM_INFINITY) return kMemoryLimitBytes;
  return std::min(kMemoryLimitBytes, static_cast<std::int64_t>(static_cast<double>(data.rlim_cur) * kShareOfProcessLimit));
}

class DuckLake final : public Lake, public ColumnLake {
 public:
  DuckLake(std::string root, core::TemporaryDirectory scratch, duckdb::Database database, duckdb::Connection connection)
      : scratch_(std::move(scratch)),
        database_(std::move(database)),
        connection_(std::move(connection)),
        catalog_(connection_, root, [root] { return list_sessions(root); }) {}

  core::Result<QueryResult> query(std::string_view sql) override;
  core::Result<Columns> columns(std::string_view sql) override;
  core::Status stream(std::string_view sql, QueryVisitor& visitor) override;
  core::Status query_to_parquet(std::string_view sql, const std::string& file) override;
  void interrupt() override { duckdb_interrupt(connection_.get()); }

 private:
  core::Result<query::Statement> prepare(std::string_view sql);
  core::TemporaryDirectory scratch_;
  duckdb::Database database_;
  duckdb::Connection connection_;
  query::Catalog catalog_;
};

class Collector final : public QueryVisitor {
 public:
  core::Status begin(const std::vector<std::string>& columns, const std::vector<std::string>& types) override {
    result.columns = columns;
    result.types = types;
    return {};
  }
  core::Status row(std::span<const std::optional<std::string>> cells) override {
    result.rows.emplace_back(cells.begin(), cells.end());
    return {};
  }
  QueryResult result;
};

core::Result<query::Statement> DuckLake::prepare(std::string_view sql) {
  AACO_ASSIGN(query::Statement statement, query::parse_statement(connection_, sql));
  AACO_TRY(catalog_.prepare_for(statement.text));
  AACO_TRY(query::check_statement(connection_, statement));
  return statement;
}

core::Result<QueryResult> DuckLake::query(std::string_view sql) {
  Collector collector;
  AACO_TRY(stream(sql, collector));
  return std::move(collector.result);
}

core::Result<Columns> DuckLake::columns(std::string_view sql) {
  AACO_ASSIGN(const query::Statement statement, prepare(sql));
  AACO_ASSIGN(const query::Plan plan, query::plan_columns(connection_, statement, &columns::is_direct));
  AACO_ASSIGN(auto cursor, connection_.query(plan.sql));
  AACO_ASSIGN(Columns answer, columns::gather(cursor, plan.types));
  for (std::size_t i = 0; i < plan.columns.size(); ++i) answer.columns[i].name = plan.columns[i];
  return answer;
}

core::Status DuckLake::stream(std::string_view sql, QueryVisitor& visitor) {
  AACO_ASSIGN(const query::Statement statement, prepare(sql));
  AACO_ASSIGN(const query::Plan plan, query::plan_statement(connection_, statement));
  AACO_ASSIGN(auto cursor, connection_.query(plan.sql));
  AACO_TRY(visitor.begin(plan.columns, plan.types));
  std::vector<std::optional<std::string>> cells(plan.columns.size());
  for (;;) {
    AACO_ASSIGN(const duckdb::DataChunk chunk, cursor.next());
    if (!chunk.valid() || chunk.size() == 0) return {};
    for (std::size_t row = 0; row < chunk.size(); ++row) {
      for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = query::cell_text(chunk.column(i), cursor.column_type(i), row);
      AACO_TRY(visitor.row(cells));
    }
  }
}

// Within one file system a rename, else a copy beside the place and then a rename.
core::Status move_file(const std::string& from, const std::string& to) {
  if (core::rename_path(from, to)) return {};
  const std::string part = to + ".part";
  std::error_code error;
  std::filesystem::copy_file(from, part, std::filesystem::copy_options::overwrite_existing, error);
  if (error) {
    ::unlink(part.c_str());
    return core::fail_errno(error.value(), to);
  }
  return core::rename_path(part, to);
}

core::Status DuckLake::query_to_parquet(std::string_view sql, const std::string& file) {
  AACO_ASSIGN(const query::Statement statement, prepare(sql));
  if (!statement.explained.empty())
    return core::fail(ErrorCode::invalid_argument, "EXPLAIN has no rows to write to Parquet", "use --format table");
  const std::string scratch = core::join_path(scratch_.path(), "answer.parquet");
  AACO_TRY(connection_.run("COPY (" + statement.text + "\n) TO " + duckdb::literal(scratch) +
                           " (FORMAT parquet, PARQUET_VERSION V2, COMPRESSION zstd)"));
  return move_file(scratch, file);
}

core::Status lock_down(duckdb::Connection& connection, const std::string& root, const std::string& scratch) {
  AACO_TRY(connection.run("SET allowed_directories = [" + duckdb::literal(root + "/") + ", " +
                          duckdb::literal(query::escape_glob(root) + "/") + ", " + duckdb::literal(scratch + "/") + "]"));
  AACO_TRY(connection.run("SET enable_external_access = false"));
  return connection.run("SET lock_configuration = true");
}

}  // namespace

CellKind cell_kind(std::string_view type) {
  constexpr std::string_view kNumbers[] = {"TINYINT",   "SMALLINT", "INTEGER", "BIGINT",   "HUGEINT", "UTINYINT",
                                           "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "FLOAT",   "DOUBLE"};
  if (type == "BOOLEAN") return CellKind::boolean;
  if (type.starts_with("DECIMAL") || std::find(std::begin(kNumbers), std::end(kNumbers), type) != std::end(kNumbers)) {
    return type.ends_with(']') ? CellKind::json : CellKind::number;
  }
  if (type == "JSON" || type.ends_with(']') || type.starts_with("STRUCT") || type.starts_with("MAP") || type.starts_with("UNION"))
    return CellKind::json;
  return CellKind::text;
}

namespace {

core::Result<std::unique_ptr<DuckLake>> open_lake(const std::string& root) {
  const std::string absolute = core::absolute_path(root);
  AACO_ASSIGN(auto scratch, core::TemporaryDirectory::make(std::filesystem::temp_directory_path().string(), "aaco-lake"));
  const int threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, kMaxThreads));
  AACO_ASSIGN(auto database, duckdb::Database::open({threads, memory_limit(), core::join_path(scratch.path(), "spill")}));
  AACO_ASSIGN(auto connection, database.connect());
  AACO_TRY(lock_down(connection, absolute, scratch.path()));
  return std::make_unique<DuckLake>(absolute, std::move(scratch), std::move(database), std::move(connection));
}

}  // namespace

core::Result<std::unique_ptr<Lake>> Lake::open(const std::string& root) { return open_lake(root); }

core::Result<std::unique_ptr<ColumnLake>> ColumnLake::open(const std::string& root) { return open_lake(root); }

}  // namespace aaco::tracelake
