#include "tracelake/duckdb/database.h"

#include <mutex>
#include <optional>

namespace aaco::tracelake::duckdb {
namespace {

using core::ErrorCode;

constexpr std::string_view kOutOfMemory = "Out of Memory";
constexpr std::int64_t kReaderMemoryBytes = std::int64_t{400} << 20;  // of all tables that are read at a time

// DuckDB begins a message with its kind, and gives one kind to all trouble with files: the system's own words tell more.
ErrorCode code_of(std::string_view message) {
  const auto says = [message](std::string_view words) { return message.find(words) != std::string_view::npos; };
  const auto is = [message](std::string_view kind) { return message.starts_with(kind); };
  if (says("No space left") || says("File too large") || says("Disk quota") || is(kOutOfMemory)) return ErrorCode::exhausted;
  if (says("Permission denied") || says("Read-only file system") || is("Permission Error")) return ErrorCode::permission;
  if (is("INTERRUPT")) return ErrorCode::cancelled;
  if (is("IO Error")) return says("No files found") || says("No such file") ? ErrorCode::not_found : ErrorCode::io;
  if (is("Not implemented") || is("Missing Extension") || is("Autoload")) return ErrorCode::unsupported;
  if (is("Catalog Error") || is("Parser Error") || is("Syntax Error") || is("Binder Error")) return ErrorCode::invalid_argument;
  return ErrorCode::invalid_input;
}

std::string_view remedy_of(ErrorCode code, std::string_view message) {
  if (code != ErrorCode::exhausted) return {};
  if (message.starts_with(kOutOfMemory)) return "filter on session_id or date, or aggregate: the answer must fit into memory";
  return "free space on that file system, or choose another folder";
}

// Without DuckDB's advice about settings, which are locked here.
std::string_view without_advice(std::string_view message) {
  return message.starts_with(kOutOfMemory) ? message.substr(0, message.find('\n')) : message;
}

std::string quoted(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote) out += quote;
    out += c;
  }
  return out += quote;
}

core::Status configure(duckdb_config config, const char* name, const std::string& value) {
  if (duckdb_set_config(config, name, value.c_str()) == DuckDBSuccess) return {};
  return core::fail(ErrorCode::unsupported,
                    std::string("this DuckDB library does not support the setting ") + name + " = " + value,
                    "use the version listed in scripts/parts/parts.txt");
}

}  // namespace

tl::unexpected<core::Error> failure(const char* message) {
  const std::string text = message == nullptr ? "DuckDB failed without an error message" : message;
  const ErrorCode code = code_of(text);
  return core::fail(code, std::string(without_advice(text)), std::string(remedy_of(code, text)));
}

std::string literal(std::string_view text) { return quoted(text, '\''); }
std::string identifier(std::string_view name) { return quoted(name, '"'); }

DataChunk::DataChunk(const std::vector<duckdb_type>& types) {
  std::vector<LogicalType> owners;
  std::vector<duckdb_logical_type> handles;
  for (const duckdb_type type : types) handles.push_back(owners.emplace_back(type).get());
  chunk_ = duckdb_create_data_chunk(handles.data(), handles.size());
}

core::Result<DataChunk> Cursor::next() {
  DataChunk chunk(duckdb_fetch_chunk(result_));
  if (!chunk.valid())
    if (const char* message = duckdb_result_error(&result_); message != nullptr && *message != '\0') return failure(message);
  return chunk;
}

core::Result<Database> Database::open(const DatabaseOptions& options) {
  duckdb_config config = nullptr;
  duckdb_create_config(&config);
  core::Status status = configure(config, "threads", std::to_string(options.threads));
  if (status) status = configure(config, "memory_limit", std::to_string(options.memory_limit_bytes) + "B");
  if (status) status = configure(config, "temp_directory", options.temporary_directory);
  if (status) status = configure(config, "autoinstall_known_extensions", "false");
  if (status) status = configure(config, "autoload_known_extensions", "false");
  if (status) status = configure(config, "enable_external_file_cache", "false");  // a file may be replaced between two readings
  Database out;
  char* message = nullptr;
  if (status && duckdb_open_ext(nullptr, &out.database_, config, &message) != DuckDBSuccess) status = failure(message);
  duckdb_free(message);
  duckdb_destroy_config(&config);
  AACO_TRY(std::move(status));
  return out;
}

core::Result<Connection> Database::connect() {
  duckdb_connection connection = nullptr;
  if (duckdb_connect(database_, &connection) != DuckDBSuccess)
    return core::fail(ErrorCode::exhausted, "cannot connect to DuckDB");
  return Connection(connection);
}

core::Result<Connection> connect_reader() {
  static std::mutex mutex;
  static auto* const database = new std::optional<Database>();  // stays: another thread may still read when main() returns
  const std::lock_guard lock(mutex);
  if (!*database) {
    AACO_ASSIGN(auto opened, Database::open({.memory_limit_bytes = kReaderMemoryBytes}));
    database->emplace(std::move(opened));
  }
  return (*database)->connect();
}

core::Status Connection::run(const std::string& sql) {
  duckdb_result result{};
  core::Status status;
  if (duckdb_query(connection_, sql.c_str(), &result) != DuckDBSuccess) status = failure(duckdb_result_error(&result));
  duckdb_destroy_result(&result);
  return status;
}

core::Result<Cursor> Connection::query(const std::string& sql) {
  duckdb_prepared_statement statement = nullptr;
  core::Status status;
  if (duckdb_prepare(connection_, sql.c_str(), &statement) != DuckDBSuccess) status = failure(duckdb_prepare_error(statement));
  duckdb_pending_result pending = nullptr;
  if (status && duckdb_pending_prepared_streaming(statement, &pending) != DuckDBSuccess)
    status = failure(duckdb_pending_error(pending));
  duckdb_result result{};
  if (status && duckdb_execute_pending(pending, &result) != DuckDBSuccess) {
    status = failure(duckdb_result_error(&result));
    duckdb_destroy_result(&result);
  }
  duckdb_destroy_pending(&pending);
  duckdb_destroy_prepare(&statement);
  AACO_TRY(std::move(status));
  return Cursor(result);
}

}  // namespace aaco::tracelake::duckdb
