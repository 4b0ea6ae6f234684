#include "tracelake/store/parquet_copy.h"

#include "core/files.h"
#include "trace/session.h"

namespace aaco::tracelake::store {
namespace {

using duckdb::identifier;
using duckdb::literal;

// Version 2 pages hold differences of integers: a kernel table takes a sixth of the room and less time. Columns of many values
// give up their dictionary early. Bloom filters would stay in memory until the file ends: megabytes per minute of a long
// recording, and no query selects by single values. A row group is kept in memory until it is full: a small one stays in the
// processor's cache. What describes it stays in memory until the file ends, so long recordings have larger ones
// (docs/results.md).
constexpr int kRowGroup = 30720, kRecordedRowGroup = 122880;

int row_group_of(std::string_view table) { return table == "sched_events" ? kRecordedRowGroup : kRowGroup; }

std::string copy_statement(const std::string& select, const std::string& file, int row_group) {
  return "COPY (" + select + ") TO " + literal(file) +
         " (FORMAT parquet, PARQUET_VERSION V2, COMPRESSION zstd, DICTIONARY_SIZE_LIMIT 2048, ROW_GROUP_SIZE " +
         std::to_string(row_group) +
         ", "
         "WRITE_BLOOM_FILTER false, KV_METADATA {" +
         std::string(kSchemaVersionKey) + ": '" + std::to_string(trace::kSessionSchemaVersion) + "'})";
}

void bind(duckdb_bind_info info) {
  const auto& input = *static_cast<const ParquetCopy::Input*>(duckdb_bind_get_extra_info(info));
  for (const FileField& field : input.fields)
    duckdb_bind_add_result_column(info, std::string(field.name).c_str(), duckdb::LogicalType(field.type).get());
}

void init(duckdb_init_info info) { duckdb_init_set_max_threads(info, 1); }

void produce(duckdb_function_info info, duckdb_data_chunk chunk) {
  const auto& input = *static_cast<const ParquetCopy::Input*>(duckdb_function_get_extra_info(info));
  const auto filled = input.source->fill(chunk);
  duckdb_data_chunk_set_size(chunk, filled.value_or(0));
  if (!filled) duckdb_function_set_error(info, filled.error().message.c_str());
}

}  // namespace

core::Result<duckdb::Connection> StoreDatabase::connect() {
  if (!database_) {
    AACO_ASSIGN(auto opened, duckdb::Database::open({.temporary_directory = spill_}));
    database_.emplace(std::move(opened));
  }
  return database_->connect();
}

ParquetCopy::ParquetCopy(StoreDatabase& database, std::string_view table, std::vector<FileField> fields)
    : database_(database),
      function_("aaco_rows_" + std::string(table)),
      row_group_(row_group_of(table)),
      input_{std::move(fields)} {}

ParquetCopy::~ParquetCopy() {
  if (thread_.joinable()) thread_.join();
}

core::Status ParquetCopy::register_function(duckdb::Connection& connection) {
  if (registered_) return {};
  duckdb_table_function function = duckdb_create_table_function();
  duckdb_table_function_set_name(function, function_.c_str());
  duckdb_table_function_set_extra_info(function, &input_, nullptr);
  duckdb_table_function_set_bind(function, &bind);
  duckdb_table_function_set_init(function, &init);
  duckdb_table_function_set_function(function, &produce);
  registered_ = duckdb_register_table_function(connection.get(), function) == DuckDBSuccess;
  duckdb_destroy_table_function(&function);
  if (!registered_) return core::fail(core::ErrorCode::unsupported, "this DuckDB library does not support table functions");
  return {};
}

core::Status ParquetCopy::start(ChunkSource& source, const std::string& file) {
  AACO_ASSIGN(auto connection, database_.connect());
  AACO_TRY(register_function(connection));
  AACO_TRY(core::make_directories(core::parent_path(file)));
  input_.source = &source;
  thread_ = std::thread([this, &source, own = std::move(connection),
                         sql = copy_statement("SELECT * FROM " + function_ + "()", file, row_group_)]() mutable {
    result_ = own.run(sql);
    source.consumer_ended();
  });
  return {};
}

core::Status ParquetCopy::finish() {
  thread_.join();
  return result_;
}

core::Status combine_parquet(StoreDatabase& database, const std::vector<std::string>& files, std::string_view time,
                             const std::string& into) {
  std::string rows;
  for (std::size_t i = 0; i < files.size(); ++i)
    rows += (i > 0 ? " UNION ALL " : "") + std::string("SELECT *, ") + std::to_string(i) + " AS part FROM read_parquet(" +
            literal(files[i]) + ", file_row_number = true)";
  std::string sql = "SELECT * EXCLUDE (part, file_row_number) FROM (" + rows + ")";
  if (!time.empty()) sql += " ORDER BY " + identifier(time) + ", part, file_row_number";
  AACO_ASSIGN(auto connection, database.connect());
  return connection.run(copy_statement(sql, into, kRowGroup));
}

}  // namespace aaco::tracelake::store
