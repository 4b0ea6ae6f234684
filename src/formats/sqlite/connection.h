#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>

#include "formats/sqlite.h"

namespace aaco::formats::sqlite {

struct CloseConnection {
  void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
};
struct FinaliseStatement {
  void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
};
using StatementHandle = std::unique_ptr<sqlite3_stmt, FinaliseStatement>;

struct Connection {
  std::unique_ptr<sqlite3, CloseConnection> handle;
  std::string path;
  std::int64_t rounds = 0;  // of the progress handler since the last row
};

struct Rows::State {
  std::shared_ptr<Connection> connection;  // closed after the statement
  StatementHandle statement;
};

// SQLite's result code as an error of ours.
tl::unexpected<core::Error> fail_sqlite(int code, sqlite3* handle, const std::string& path);

}  // namespace aaco::formats::sqlite
