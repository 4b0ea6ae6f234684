#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "trace/names.h"
#include "tracelake/duckdb/database.h"

namespace aaco::tracelake::store {

// The database in which the rows of an open session wait for their files. Opened when the first chunk comes, so that a session
// without rows pays nothing.
class StageDatabase {
 public:
  // What exceeds the memory limit goes to `spill_directory`, which is made when it is needed.
  StageDatabase(const trace::NameTable& names, std::string spill_directory) : names_(names), spill_(std::move(spill_directory)) {}
  core::Result<duckdb::Connection*> connection();
  [[nodiscard]] const std::string& spill_directory() const { return spill_; }

 private:
  const trace::NameTable& names_;
  std::string spill_;
  std::optional<duckdb::Connection> connection_;
};

struct StageColumn {
  std::string_view name;
  duckdb_type type;
  bool is_name;
};

// One table of the stage: chunks in, a Parquet file out.
class StageTable {
 public:
  // `time`: the column the file is sorted by, or empty.
  StageTable(StageDatabase& database, std::string_view name, std::string_view time, std::vector<StageColumn> columns);
  ~StageTable();
  StageTable(const StageTable&) = delete;
  StageTable& operator=(const StageTable&) = delete;

  core::Status append(const duckdb::DataChunk& chunk);
  // The rows appended so far as a file (written beside it and renamed); sorts them if `sorted` does not say that they are.
  core::Status write_parquet(const std::string& file, bool sorted);

 private:
  core::Status open();
  StageDatabase& database_;
  std::string name_, time_;
  std::vector<StageColumn> columns_;
  duckdb_appender appender_ = nullptr;
};

}  // namespace aaco::tracelake::store
