#include "formats/sqlite/connection.h"
#include "formats/sqlite_testing.h"

namespace aaco::formats::sqlite {

core::Status make_database(const std::string& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  int code = sqlite3_open(path.c_str(), &handle);
  const std::unique_ptr<sqlite3, CloseConnection> owner(handle);
  if (code == SQLITE_OK) code = sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail_sqlite(code, handle, path);
  return {};
}

}  // namespace aaco::formats::sqlite
