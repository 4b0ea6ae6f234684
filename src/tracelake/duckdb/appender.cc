#include "tracelake/duckdb/appender.h"

namespace aaco::tracelake::duckdb {

core::Result<Appender> Appender::open(Connection& connection, const std::string& table) {
  duckdb_appender appender = nullptr;
  const bool good = duckdb_appender_create(connection.get(), nullptr, table.c_str(), &appender) == DuckDBSuccess;
  Appender owner(appender);
  if (!good) return failure(duckdb_appender_error(appender));
  return owner;
}

core::Status Appender::end_row() {
  if (duckdb_appender_end_row(appender_) == DuckDBSuccess) return {};
  return failure(duckdb_appender_error(appender_));
}

core::Status Appender::close() {
  if (duckdb_appender_close(appender_) == DuckDBSuccess) return {};
  return failure(duckdb_appender_error(appender_));
}

}  // namespace aaco::tracelake::duckdb
