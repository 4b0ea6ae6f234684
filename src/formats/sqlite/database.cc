#include <algorithm>
#include <array>
#include <fstream>

#include "core/strings.h"
#include "formats/sqlite/connection.h"

namespace aaco::formats::sqlite {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr int kLongestValueBytes = 64 << 20;
constexpr int kInstructionsPerRound = 1 << 20;
constexpr std::int64_t kMaxRoundsPerRow = 4096;  // 4e9 instructions without a row: minutes
constexpr int kPagesKiB = 32 << 10;              // page cache
constexpr std::size_t kMaxTables = 4096;

// The path as the authority-less part of a file: URI.
std::string uri_of(const std::string& path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || c == '/' || c == '.' || c == '_' || c == '-';
    if (plain)
      uri += c;
    else
      uri.append({'%', kHex[byte >> 4U], kHex[byte & 15U]});
  }
  return uri;
}

std::string quoted(std::string_view name) { return '"' + core::replace_all(std::string(name), "\"", "\"\"") + '"'; }

std::string literal(std::string_view text) { return '\'' + core::replace_all(std::string(text), "'", "''") + '\''; }

bool same(std::string_view a, std::string_view b) { return core::to_lower(a) == core::to_lower(b); }

void harden(sqlite3* handle) {
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestValueBytes);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_extended_result_codes(handle, 1);
}

// Page size and page count stand big-endian at bytes 16 and 28 of the header; the count holds where bytes 24 and 92 are equal.
bool shorter_than_its_header(const std::string& path) {
  std::array<unsigned char, 100> header = {};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(header.data()), header.size())) return true;
  file.seekg(0, std::ios::end);
  const auto size = static_cast<std::uint64_t>(file.tellg());
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value << 8U | header[at + i];
    return value;
  };
  const std::uint64_t page = number(16, 2) == 1 ? 65536 : number(16, 2);
  if (page == 0 || size % page != 0) return true;
  return number(24, 4) == number(92, 4) && number(28, 4) * page > size;
}

}  // namespace

bool is_database(std::string_view head) { return head.substr(0, kMagic.size()) == kMagic; }

tl::unexpected<core::Error> fail_sqlite(int code, sqlite3* handle, const std::string& path) {
  const std::string words = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  switch (code & 0xFF) {
    case SQLITE_CANTOPEN:
      return core::fail(core::ErrorCode::not_found, path + ": cannot open the database (" + words + ")",
                        "check the path and its permissions");
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY: return core::fail(core::ErrorCode::permission, path + ": " + words);
    case SQLITE_NOMEM:
    case SQLITE_FULL:
    case SQLITE_TOOBIG: return core::fail(core::ErrorCode::exhausted, path + ": " + words);
    case SQLITE_INTERRUPT:
      return core::fail(core::ErrorCode::exhausted, path + ": reading one row of the database takes too long",
                        "the file may be damaged or malicious; check it with 'sqlite3 FILE \"PRAGMA integrity_check\"'");
    case SQLITE_IOERR: return core::fail(core::ErrorCode::io, path + ": " + words);
    default:
      return core::fail(core::ErrorCode::invalid_input, path + ": the database is damaged (" + words + ")",
                        "copy the file again from its source; 'sqlite3 FILE .recover' may recover more of it");
  }
}

core::Result<Database> Database::open(const std::string& path, Mode mode) {
  auto connection = std::make_shared<Connection>();
  connection->path = path;
  sqlite3* handle = nullptr;
  const std::string uri = uri_of(path) + (mode == Mode::immutable ? "?immutable=1" : "");
  const int access = mode == Mode::immutable ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  const int code = sqlite3_open_v2(uri.c_str(), &handle, access | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  connection->handle.reset(handle);  // also after a failure
  if (code != SQLITE_OK) return fail_sqlite(code, handle, path);
  harden(handle);
  sqlite3_progress_handler(
      handle, kInstructionsPerRound,
      [](void* state) { return ++static_cast<Connection*>(state)->rounds > kMaxRoundsPerRow ? 1 : 0; }, connection.get());
  // writable_schema: a cut file is opened all the same, up to where it is cut; nothing is ever written.
  for (const std::string& pragma :
       {std::string("PRAGMA writable_schema=ON"), std::string("PRAGMA cell_size_check=ON"), std::string("PRAGMA mmap_size=0"),
        std::string("PRAGMA query_only=ON"), "PRAGMA cache_size=-" + std::to_string(kPagesKiB)}) {
    AACO_ASSIGN(Rows rows, query(connection, pragma));
    for (bool more = true; more;) {
      AACO_ASSIGN(more, rows.next());
    }
  }
  AACO_ASSIGN(auto tables, read_tables(connection));
  return Database(std::move(connection), std::move(tables), shorter_than_its_header(path));
}

core::Result<Rows> Database::query(const std::shared_ptr<Connection>& connection, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  connection->rounds = 0;
  const int code = sqlite3_prepare_v2(connection->handle.get(), sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return fail_sqlite(code, connection->handle.get(), connection->path);
  return Rows(std::make_unique<Rows::State>(Rows::State{connection, StatementHandle(statement)}));
}

// Views and virtual tables have no root page.
core::Result<std::vector<Table>> Database::read_tables(const std::shared_ptr<Connection>& connection) {
  std::vector<Table> tables;
  AACO_ASSIGN(Rows rows, query(connection, "SELECT name FROM sqlite_master WHERE type='table' AND rootpage>0 ORDER BY name"));
  for (;;) {
    AACO_ASSIGN(const bool more, rows.next());
    if (!more) break;
    if (tables.size() == kMaxTables)
      return core::fail(core::ErrorCode::invalid_input,
                        connection->path + ": more than " + std::to_string(kMaxTables) + " tables");
    tables.push_back({std::string(rows.text(0)), {}, {}});
  }
  for (Table& table : tables) {
    AACO_ASSIGN(Rows columns, query(connection, "SELECT name, type, pk FROM pragma_table_info(" + literal(table.name) + ")"));
    int keys = 0;
    std::string key;
    for (;;) {
      AACO_ASSIGN(const bool more, columns.next());
      if (!more) break;
      table.columns.emplace_back(columns.text(0));
      if (columns.integer(2).value_or(0) == 0) continue;
      ++keys;
      key = same(columns.text(1), "integer") ? table.columns.back() : std::string();
    }
    if (keys == 1) table.row_id = key;
  }
  return tables;
}

const std::string& Database::path() const { return connection_->path; }

const Table* Database::table(std::string_view name) const {
  const auto place = std::find_if(tables_.begin(), tables_.end(), [&](const Table& table) { return same(table.name, name); });
  return place == tables_.end() ? nullptr : &*place;
}

bool Database::has(std::string_view table_name, std::string_view column) const {
  const Table* found = table(table_name);
  return found != nullptr &&
         std::any_of(found->columns.begin(), found->columns.end(), [&](const std::string& name) { return same(name, column); });
}

std::string Database::select_sql(const Table& table, const std::vector<std::string_view>& columns) {
  std::string sql = "SELECT ";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool there =
        std::any_of(table.columns.begin(), table.columns.end(), [&](const std::string& name) { return same(name, columns[i]); });
    sql += (i == 0 ? "" : ",") + (there ? quoted(columns[i]) : std::string("NULL"));
  }
  return sql + " FROM main." + quoted(table.name);
}

core::Result<Rows> Database::select(std::string_view table_name, const std::vector<std::string_view>& columns) const {
  const Table* found = table(table_name);
  if (found == nullptr)
    return core::fail(core::ErrorCode::invalid_input, connection_->path + ": table " + std::string(table_name) + " not found");
  return query(connection_, select_sql(*found, columns) + " NOT INDEXED");
}

core::Result<Rows> Database::by_row_id(std::string_view table_name, const std::vector<std::string_view>& columns) const {
  const Table* found = table(table_name);
  if (found == nullptr || found->row_id.empty())
    return core::fail(core::ErrorCode::invalid_input,
                      connection_->path + ": no table " + std::string(table_name) + " with an integer primary key");
  return query(connection_, select_sql(*found, columns) + " WHERE " + quoted(found->row_id) + "=?1");
}

core::Result<std::int64_t> Database::count(std::string_view table_name) const {
  const Table* found = table(table_name);
  if (found == nullptr) return 0;
  AACO_ASSIGN(Rows rows, query(connection_, "SELECT count(*) FROM main." + quoted(found->name)));
  AACO_TRY(rows.next());
  return rows.integer(0).value_or(0);
}

}  // namespace aaco::formats::sqlite
