#include <cmath>

#include "core/numbers.h"
#include "formats/sqlite/connection.h"

namespace aaco::formats::sqlite {

Rows::Rows(std::unique_ptr<State> state) : state_(std::move(state)) {}
Rows::Rows(Rows&&) noexcept = default;
Rows& Rows::operator=(Rows&&) noexcept = default;
Rows::~Rows() = default;

core::Result<bool> Rows::next() {
  state_->connection->rounds = 0;
  const int code = sqlite3_step(state_->statement.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return fail_sqlite(code, state_->connection->handle.get(), state_->connection->path);
}

core::Status Rows::restart(std::int64_t row_id) {
  sqlite3_reset(state_->statement.get());  // repeats the last step's error, which next() has told already
  const int code = sqlite3_bind_int64(state_->statement.get(), 1, row_id);
  if (code != SQLITE_OK) return fail_sqlite(code, state_->connection->handle.get(), state_->connection->path);
  return {};
}

Kind Rows::kind(int column) const {
  switch (sqlite3_column_type(state_->statement.get(), column)) {
    case SQLITE_INTEGER: return Kind::integer;
    case SQLITE_FLOAT: return Kind::real;
    case SQLITE_TEXT: return Kind::text;
    case SQLITE_BLOB: return Kind::blob;
    default: return Kind::null;
  }
}

std::optional<std::int64_t> Rows::integer(int column) const {
  constexpr double kLimit = 9007199254740992.0;  // 2^53: whole numbers above it may have been rounded
  switch (kind(column)) {
    case Kind::integer: return sqlite3_column_int64(state_->statement.get(), column);
    case Kind::real: {
      const double value = sqlite3_column_double(state_->statement.get(), column);
      if (!(std::abs(value) <= kLimit) || value != std::floor(value)) return std::nullopt;
      return static_cast<std::int64_t>(value);
    }
    case Kind::text: return core::parse_i64(text(column));
    default: return std::nullopt;
  }
}

std::optional<std::uint64_t> Rows::id(int column) const {
  if (kind(column) == Kind::text) return core::parse_u64(text(column));
  const auto value = integer(column);
  return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

std::optional<double> Rows::real(int column) const {
  std::optional<double> value;
  const Kind stored = kind(column);
  if (stored == Kind::integer || stored == Kind::real) value = sqlite3_column_double(state_->statement.get(), column);
  if (stored == Kind::text) value = core::parse_f64(text(column));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string_view Rows::text(int column) const {
  sqlite3_stmt* statement = state_->statement.get();
  const auto* bytes =
      static_cast<const char*>(kind(column) == Kind::blob ? sqlite3_column_blob(statement, column)
                                                          : static_cast<const void*>(sqlite3_column_text(statement, column)));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))};
}

}  // namespace aaco::formats::sqlite
