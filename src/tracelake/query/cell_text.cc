#include "tracelake/query/cell_text.h"

#include <array>
#include <charconv>
#include <cstdint>

namespace aaco::tracelake::query {
namespace {

template <class Number>
std::string text_of(const void* data, std::size_t row) {
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), static_cast<const Number*>(data)[row]).ptr;
  return {buffer.data(), end};
}

std::string digits_of(unsigned __int128 value) {
  std::string out;
  do out.insert(out.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
  while ((value /= 10) != 0);
  return out;
}

unsigned __int128 joined(std::uint64_t upper, std::uint64_t lower) { return static_cast<unsigned __int128>(upper) << 64 | lower; }

std::string huge_text(duckdb_hugeint value) {
  const unsigned __int128 bits = joined(static_cast<std::uint64_t>(value.upper), value.lower);
  return value.upper < 0 ? "-" + digits_of(-bits) : digits_of(bits);
}

std::string varchar_text(const duckdb_string_t& cell) {
  const std::uint32_t size = cell.value.inlined.length;
  return {size <= 12 ? cell.value.inlined.inlined : cell.value.pointer.ptr, size};
}

}  // namespace

std::string_view type_name(duckdb_type type) {
  switch (type) {
    case DUCKDB_TYPE_BOOLEAN: return "BOOLEAN";
    case DUCKDB_TYPE_TINYINT: return "TINYINT";
    case DUCKDB_TYPE_SMALLINT: return "SMALLINT";
    case DUCKDB_TYPE_INTEGER: return "INTEGER";
    case DUCKDB_TYPE_BIGINT: return "BIGINT";
    case DUCKDB_TYPE_UTINYINT: return "UTINYINT";
    case DUCKDB_TYPE_USMALLINT: return "USMALLINT";
    case DUCKDB_TYPE_UINTEGER: return "UINTEGER";
    case DUCKDB_TYPE_UBIGINT: return "UBIGINT";
    case DUCKDB_TYPE_HUGEINT: return "HUGEINT";
    case DUCKDB_TYPE_UHUGEINT: return "UHUGEINT";
    case DUCKDB_TYPE_FLOAT: return "FLOAT";
    case DUCKDB_TYPE_DOUBLE: return "DOUBLE";
    case DUCKDB_TYPE_VARCHAR: return "VARCHAR";
    default: return {};
  }
}

bool has_text(duckdb_type type) { return !type_name(type).empty(); }

std::optional<std::string> cell_text(duckdb_vector column, duckdb_type type, std::size_t row) {
  const std::uint64_t* validity = duckdb_vector_get_validity(column);
  if (validity != nullptr && (validity[row / 64] >> (row % 64) & 1) == 0) return std::nullopt;
  const void* data = duckdb_vector_get_data(column);
  switch (type) {
    case DUCKDB_TYPE_BOOLEAN: return static_cast<const bool*>(data)[row] ? "true" : "false";
    case DUCKDB_TYPE_TINYINT: return text_of<std::int8_t>(data, row);
    case DUCKDB_TYPE_SMALLINT: return text_of<std::int16_t>(data, row);
    case DUCKDB_TYPE_INTEGER: return text_of<std::int32_t>(data, row);
    case DUCKDB_TYPE_BIGINT: return text_of<std::int64_t>(data, row);
    case DUCKDB_TYPE_UTINYINT: return text_of<std::uint8_t>(data, row);
    case DUCKDB_TYPE_USMALLINT: return text_of<std::uint16_t>(data, row);
    case DUCKDB_TYPE_UINTEGER: return text_of<std::uint32_t>(data, row);
    case DUCKDB_TYPE_UBIGINT: return text_of<std::uint64_t>(data, row);
    case DUCKDB_TYPE_HUGEINT: return huge_text(static_cast<const duckdb_hugeint*>(data)[row]);
    case DUCKDB_TYPE_UHUGEINT: {
      const auto& value = static_cast<const duckdb_uhugeint*>(data)[row];
      return digits_of(joined(value.upper, value.lower));
    }
    case DUCKDB_TYPE_FLOAT: return text_of<float>(data, row);
    case DUCKDB_TYPE_DOUBLE: return text_of<double>(data, row);
    default: return varchar_text(static_cast<const duckdb_string_t*>(data)[row]);
  }
}

}  // namespace aaco::tracelake::query
