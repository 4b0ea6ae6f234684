#pragma once

#include <duckdb.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/result.h"
#include "tracelake/duckdb/database.h"

namespace aaco::tracelake::duckdb {

// Adds rows to a small table, value by value in the order of its columns. Measured rows go by chunks instead
// (store/parquet_copy.h).
class Appender {
 public:
  static core::Result<Appender> open(Connection& connection, const std::string& table);
  Appender(Appender&& other) noexcept : appender_(std::exchange(other.appender_, nullptr)) {}
  Appender& operator=(Appender&&) = delete;
  ~Appender() { duckdb_appender_destroy(&appender_); }

  Appender& text(std::string_view value) {
    duckdb_append_varchar_length(appender_, value.data(), value.size());
    return *this;
  }
  Appender& integer(std::int64_t value) {
    duckdb_append_int64(appender_, value);
    return *this;
  }
  Appender& real(double value) {
    duckdb_append_double(appender_, value);
    return *this;
  }
  Appender& null() {
    duckdb_append_null(appender_);
    return *this;
  }
  // The error of any value of the row.
  core::Status end_row();
  core::Status close();

 private:
  explicit Appender(duckdb_appender appender) : appender_(appender) {}
  duckdb_appender appender_;
};

}  // namespace aaco::tracelake::duckdb
