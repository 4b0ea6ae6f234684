#include "tracelake/store/stage.h"

#include "core/files.h"
#include "trace/session.h"

namespace aaco::tracelake::store {
namespace {

using duckdb::identifier;
using duckdb::literal;

// aaco_name(number): the text of a name, for COPY. Runs on DuckDB's threads while nobody adds names.
void name_function(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
  const auto& names = *static_cast<const trace::NameTable*>(duckdb_scalar_function_get_extra_info(info));
  const auto* ids = static_cast<const std::uint32_t*>(duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0)));
  const idx_t count = duckdb_data_chunk_get_size(input);
  for (idx_t row = 0; row < count; ++row) {
    const std::string_view text = names.text(trace::NameId{ids[row]});
    duckdb_vector_assign_string_element_len(output, row, text.data(), text.size());
  }
}

core::Status register_name_function(duckdb_connection connection, const trace::NameTable& names) {
  duckdb_scalar_function function = duckdb_create_scalar_function();
  duckdb_scalar_function_set_name(function, "aaco_name");
  duckdb_scalar_function_add_parameter(function, duckdb::LogicalType(DUCKDB_TYPE_UINTEGER).get());
  duckdb_scalar_function_set_return_type(function, duckdb::LogicalType(DUCKDB_TYPE_VARCHAR).get());
  duckdb_scalar_function_set_extra_info(function, const_cast<trace::NameTable*>(&names), nullptr);
  duckdb_scalar_function_set_function(function, &name_function);
  const bool registered = duckdb_register_scalar_function(connection, function) == DuckDBSuccess;
  duckdb_destroy_scalar_function(&function);
  if (!registered) return core::fail(core::ErrorCode::unsupported, "this DuckDB library refuses scalar functions");
  return {};
}

}  // namespace

core::Result<duckdb::Connection*> StageDatabase::connection() {
  if (!connection_) {
    AACO_ASSIGN(auto opened, duckdb::Connection::open({.temporary_directory = spill_}));
    AACO_TRY(register_name_function(opened.get(), names_));
    connection_.emplace(std::move(opened));
  }
  return &*connection_;
}

StageTable::StageTable(StageDatabase& database, std::string_view name, std::string_view time, std::vector<StageColumn> columns)
    : database_(database), name_(name), time_(time), columns_(std::move(columns)) {}

StageTable::~StageTable() { duckdb_appender_destroy(&appender_); }

core::Status StageTable::open() {
  AACO_ASSIGN(duckdb::Connection * connection, database_.connection());
  std::string sql = "CREATE TABLE " + identifier(name_) + " (";
  for (const StageColumn& column : columns_) {
    const char* type = column.type == DUCKDB_TYPE_INTEGER    ? "INTEGER"
                       : column.type == DUCKDB_TYPE_UINTEGER ? "UINTEGER"
                       : column.type == DUCKDB_TYPE_BIGINT   ? "BIGINT"
                       : column.type == DUCKDB_TYPE_UBIGINT  ? "UBIGINT"
                                                             : "DOUBLE";
    sql += (&column == columns_.data() ? "" : ", ") + identifier(column.name) + ' ' + type;
  }
  AACO_TRY(connection->run(sql + ")"));
  if (duckdb_appender_create(connection->get(), nullptr, name_.c_str(), &appender_) != DuckDBSuccess)
    return duckdb::failure(DUCKDB_ERROR_INVALID, duckdb_appender_error(appender_));
  return {};
}

core::Status StageTable::append(const duckdb::DataChunk& chunk) {
  if (appender_ == nullptr) AACO_TRY(open());
  if (duckdb_append_data_chunk(appender_, chunk.get()) != DuckDBSuccess)
    return duckdb::failure(DUCKDB_ERROR_INVALID, duckdb_appender_error(appender_));
  return {};
}

core::Status StageTable::write_parquet(const std::string& file, bool sorted) {
  if (duckdb_appender_flush(appender_) != DuckDBSuccess)
    return duckdb::failure(DUCKDB_ERROR_INVALID, duckdb_appender_error(appender_));
  AACO_ASSIGN(duckdb::Connection * connection, database_.connection());
  std::string select;
  for (const StageColumn& column : columns_) {
    const std::string name = identifier(column.name);
    select += (select.empty() ? "" : ", ") + (column.is_name ? "aaco_name(" + name + ") AS " + name : name);
  }
  std::string from = identifier(name_);
  if (!sorted && !time_.empty()) from = "(SELECT * FROM " + from + " ORDER BY " + identifier(time_) + ", rowid)";
  AACO_TRY(core::make_directories(core::parent_path(file)));
  const std::string part = file + ".part";
  AACO_TRY(connection->run("COPY (SELECT " + select + " FROM " + from + ") TO " + literal(part) +
                           " (FORMAT parquet, COMPRESSION zstd, KV_METADATA {aaco_schema_version: '" +
                           std::to_string(trace::kSessionSchemaVersion) + "'})"));
  return core::rename_path(part, file);
}

}  // namespace aaco::tracelake::store
