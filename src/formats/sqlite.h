#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

// SQLite databases that other tools wrote, read only. A database is input like any other: it may be cut, damaged, of other types
// than its schema says, or hostile; triggers, views, virtual tables, generated columns and extensions of it are never run.
namespace aaco::formats::sqlite {

// By the first 16 bytes.
bool is_database(std::string_view head);

struct Connection;  // opaque

enum class Kind : std::uint8_t { null, integer, real, text, blob };

// The rows of one query, one at a time. Not thread-safe. Outlives its Database.
class Rows {
 public:
  Rows(Rows&&) noexcept;
  Rows& operator=(Rows&&) noexcept;
  ~Rows();
  // Moves to the next row; false at the end. After an error (a damaged page) what was read before stands.
  core::Result<bool> next();
  // Starts again for another row number (Database::by_row_id).
  core::Status restart(std::int64_t row_id);
  // Of the current row; columns count from 0, what the table does not have is null.
  [[nodiscard]] Kind kind(int column) const;
  // An integer, a real without a fraction, or a text that is a decimal number; empty for anything else.
  [[nodiscard]] std::optional<std::int64_t> integer(int column) const;
  // The same bits as an unsigned number: ids above 2^63 are negative in SQLite. A text may be above 2^63 too, or be hexadecimal.
  [[nodiscard]] std::optional<std::uint64_t> id(int column) const;
  // Finite numbers, and texts that are one.
  [[nodiscard]] std::optional<double> real(int column) const;
  // Text and blob as they are, numbers as SQLite writes them, null as the empty text. Valid until next().
  [[nodiscard]] std::string_view text(int column) const;

 private:
  friend class Database;
  struct State;
  explicit Rows(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct Table {
  std::string name;
  std::vector<std::string> columns;  // ordinary ones
  std::string row_id;                // the column that is its row number (INTEGER PRIMARY KEY), or empty
};

class Database {
 public:
  // `immutable`: nobody writes meanwhile, and nothing is made beside the file. Else the file is our own copy, and a journal or
  // log that lies beside it is brought in first.
  enum class Mode : std::uint8_t { immutable, own_copy };
  static core::Result<Database> open(const std::string& path, Mode mode = Mode::immutable);

  [[nodiscard]] const std::string& path() const;
  // The file is shorter than its header says: tables may be damaged, or lack rows.
  [[nodiscard]] bool is_cut() const { return cut_; }
  // Ordinary tables, by name: neither views nor virtual tables.
  [[nodiscard]] const std::vector<Table>& tables() const { return tables_; }
  // Without regard to case, as in SQL; null where there is none.
  [[nodiscard]] const Table* table(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view table, std::string_view column) const;

  // All rows of a table in the order of the file; a column that it does not have is null in every row. Fails where there is no
  // such table.
  [[nodiscard]] core::Result<Rows> select(std::string_view table, const std::vector<std::string_view>& columns) const;
  // The row that Rows::restart() names, of a table with a row_id.
  [[nodiscard]] core::Result<Rows> by_row_id(std::string_view table, const std::vector<std::string_view>& columns) const;
  // SQL of our own over ordinary tables, as joins; never text of the database. The tables named must be there.
  [[nodiscard]] core::Result<Rows> query(const std::string& sql) const { return query(connection_, sql); }
  // 0 where there is no such table.
  [[nodiscard]] core::Result<std::int64_t> count(std::string_view table) const;

 private:
  Database(std::shared_ptr<Connection> connection, std::vector<Table> tables, bool cut)
      : connection_(std::move(connection)), tables_(std::move(tables)), cut_(cut) {}
  static core::Result<std::vector<Table>> read_tables(const std::shared_ptr<Connection>& connection);
  static core::Result<Rows> query(const std::shared_ptr<Connection>& connection, const std::string& sql);
  static std::string select_sql(const Table& table, const std::vector<std::string_view>& columns);

  std::shared_ptr<Connection> connection_;
  std::vector<Table> tables_;
  bool cut_ = false;
};

}  // namespace aaco::formats::sqlite
