#pragma once

#include <duckdb.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

namespace aaco::tracelake::duckdb {

struct DatabaseOptions {
  int threads = 1;
  std::int64_t memory_limit_bytes = std::int64_t{200} << 20;
  std::string temporary_directory = {};  // where what exceeds the limit goes; empty: nowhere, the query fails
};

// Owns a duckdb_logical_type.
class LogicalType {
 public:
  explicit LogicalType(duckdb_type type) : type_(duckdb_create_logical_type(type)) {}
  LogicalType(LogicalType&& other) noexcept : type_(std::exchange(other.type_, nullptr)) {}
  LogicalType& operator=(LogicalType&&) = delete;
  ~LogicalType() { duckdb_destroy_logical_type(&type_); }
  [[nodiscard]] duckdb_logical_type get() const { return type_; }

 private:
  duckdb_logical_type type_;
};

// Owns a chunk: up to duckdb_vector_size() rows by columns.
class DataChunk {
 public:
  DataChunk() = default;
  explicit DataChunk(duckdb_data_chunk chunk) : chunk_(chunk) {}
  explicit DataChunk(const std::vector<duckdb_type>& types);
  DataChunk(DataChunk&& other) noexcept : chunk_(std::exchange(other.chunk_, nullptr)) {}
  DataChunk& operator=(DataChunk&& other) noexcept {
    std::swap(chunk_, other.chunk_);
    return *this;
  }
  ~DataChunk() { duckdb_destroy_data_chunk(&chunk_); }
  [[nodiscard]] duckdb_data_chunk get() const { return chunk_; }
  [[nodiscard]] bool valid() const { return chunk_ != nullptr; }
  [[nodiscard]] std::size_t size() const { return duckdb_data_chunk_get_size(chunk_); }
  [[nodiscard]] duckdb_vector column(std::size_t index) const { return duckdb_data_chunk_get_vector(chunk_, index); }

 private:
  duckdb_data_chunk chunk_ = nullptr;
};

// A query's answer, fetched chunk by chunk.
class Cursor {
 public:
  explicit Cursor(duckdb_result result) : result_(result) {}
  Cursor(Cursor&& other) noexcept : result_(std::exchange(other.result_, duckdb_result{})) {}
  Cursor& operator=(Cursor&&) = delete;
  ~Cursor() { duckdb_destroy_result(&result_); }

  // The next chunk; one that is not valid() at the end.
  core::Result<DataChunk> next();
  [[nodiscard]] std::size_t column_count() { return duckdb_column_count(&result_); }
  [[nodiscard]] std::string column_name(std::size_t index) { return duckdb_column_name(&result_, index); }
  [[nodiscard]] duckdb_type column_type(std::size_t index) { return duckdb_column_type(&result_, index); }

 private:
  duckdb_result result_;
};

// A connection; one thread at a time, and not after its database is gone.
class Connection {
 public:
  explicit Connection(duckdb_connection connection) : connection_(connection) {}
  Connection(Connection&& other) noexcept : connection_(std::exchange(other.connection_, nullptr)) {}
  Connection& operator=(Connection&&) = delete;
  ~Connection() { duckdb_disconnect(&connection_); }

  // Statements without an answer that matters.
  core::Status run(const std::string& sql);
  // One statement, its answer streamed.
  core::Result<Cursor> query(const std::string& sql);
  [[nodiscard]] duckdb_connection get() const { return connection_; }

 private:
  duckdb_connection connection_;
};

// A database in memory, of its own. With one thread each connection works on its caller's.
class Database {
 public:
  static core::Result<Database> open(const DatabaseOptions& options);
  Database(Database&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Database& operator=(Database&&) = delete;
  ~Database() { duckdb_close(&database_); }
  core::Result<Connection> connect();

 private:
  Database() = default;
  duckdb_database database_ = nullptr;
};

// A connection to the one database of this process that reads table files; any thread. Starting an engine takes longer than
// reading a small table, and a session has a dozen of them: so this one is made at the first call and kept.
core::Result<Connection> connect_reader();

// The error DuckDB reported, with the code of ours that fits.
tl::unexpected<core::Error> failure(const char* message);

// 'text' as an SQL literal, "name" as an SQL identifier.
std::string literal(std::string_view text);
std::string identifier(std::string_view name);

}  // namespace aaco::tracelake::duckdb
