#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/result.h"
#include "tracelake/duckdb/database.h"
#include "tracelake/store/chunk_source.h"

namespace aaco::tracelake::store {

// The database behind an open bundle. Opened by the first table that is written, so that a session without rows pays nothing.
class StoreDatabase {
 public:
  // What exceeds the memory limit (sorting a long table) goes to `spill_directory`.
  explicit StoreDatabase(std::string spill_directory) : spill_(std::move(spill_directory)) {}
  core::Result<duckdb::Connection> connect();
  [[nodiscard]] const std::string& spill_directory() const { return spill_; }

 private:
  std::string spill_;
  std::optional<duckdb::Database> database_;
};

// Every table file says under this key which schema version wrote it.
inline constexpr std::string_view kSchemaVersionKey = "aaco_schema_version";

struct FileField {
  std::string_view name;
  duckdb_type type;
};

// Turns the chunks of a source into one Parquet file by DuckDB's COPY, on a thread of its own.
class ParquetCopy {
 public:
  ParquetCopy(StoreDatabase& database, std::string_view table, std::vector<FileField> fields);
  ~ParquetCopy();  // waits; the owner ends the source first
  ParquetCopy(const ParquetCopy&) = delete;
  ParquetCopy& operator=(const ParquetCopy&) = delete;

  [[nodiscard]] bool running() const { return thread_.joinable(); }
  core::Status start(ChunkSource& source, const std::string& file);
  // Waits for the end of the source and of the file.
  core::Status finish();

 private:
  core::Status register_function(duckdb::Connection& connection);
  StoreDatabase& database_;
  std::string function_;
  int row_group_;
  bool registered_ = false;
  core::Status result_;  // of the thread, read after it has been joined
  std::thread thread_;

 public:
  // What DuckDB's callbacks see.
  struct Input {
    std::vector<FileField> fields;
    ChunkSource* source = nullptr;
  };

 private:
  Input input_;
};

// Writes the rows of Parquet files, one after another or sorted by `time` (ties keep their order), into one file.
core::Status combine_parquet(StoreDatabase& database, const std::vector<std::string>& files, std::string_view time,
                             const std::string& into);

}  // namespace aaco::tracelake::store
