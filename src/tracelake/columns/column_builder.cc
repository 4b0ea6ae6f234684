#include "tracelake/columns/column_builder.h"

#include <cstring>
#include <utility>

namespace aaco::tracelake::columns {
namespace {

// HUGEINT begins as int64, which holds what sums of the tables' integers are.
ColumnKind kind_of(duckdb_type type) {
  switch (type) {
    case DUCKDB_TYPE_BOOLEAN: return ColumnKind::boolean;
    case DUCKDB_TYPE_TINYINT: return ColumnKind::int8;
    case DUCKDB_TYPE_SMALLINT: return ColumnKind::int16;
    case DUCKDB_TYPE_INTEGER: return ColumnKind::int32;
    case DUCKDB_TYPE_UTINYINT: return ColumnKind::uint8;
    case DUCKDB_TYPE_USMALLINT: return ColumnKind::uint16;
    case DUCKDB_TYPE_UINTEGER: return ColumnKind::uint32;
    case DUCKDB_TYPE_UBIGINT: return ColumnKind::uint64;
    case DUCKDB_TYPE_FLOAT: return ColumnKind::float32;
    case DUCKDB_TYPE_DOUBLE: return ColumnKind::float64;
    case DUCKDB_TYPE_DATE: return ColumnKind::date;
    case DUCKDB_TYPE_TIMESTAMP: return ColumnKind::timestamp;
    case DUCKDB_TYPE_VARCHAR: return ColumnKind::text;
    default: return ColumnKind::int64;
  }
}

bool present(const std::uint64_t* validity, std::size_t row) {
  return validity == nullptr || (validity[row / 64] >> (row % 64) & 1) != 0;
}

// The bits of what was gathered before come in one at a time: chunks need not begin at a whole byte.
void append_validity(const std::uint64_t* validity, std::size_t count, Column& column) {
  std::size_t nulls = 0;
  for (std::size_t row = 0; row < count; ++row) nulls += present(validity, row) ? 0 : 1;
  const std::size_t total = column.rows + count;
  if (nulls > 0 && column.validity.empty()) column.validity.assign((column.rows + 7) / 8, 0xFF);
  if (nulls > 0 || !column.validity.empty()) {
    column.validity.resize((total + 7) / 8, 0);
    for (std::size_t row = 0; row < count; ++row) {
      const std::size_t at = column.rows + row;
      const auto bit = static_cast<std::uint8_t>(1U << (at % 8));
      if (present(validity, row))
        column.validity[at / 8] |= bit;
      else
        column.validity[at / 8] &= static_cast<std::uint8_t>(~bit);
    }
  }
  column.nulls += nulls;
}

void append_text(const void* data, const std::uint64_t* validity, std::size_t count, Column& column) {
  const auto* cells = static_cast<const duckdb_string_t*>(data);
  for (std::size_t row = 0; row < count; ++row) {
    if (present(validity, row)) {
      const std::uint32_t size = cells[row].value.inlined.length;
      const char* text = size <= 12 ? cells[row].value.inlined.inlined : cells[row].value.pointer.ptr;
      const auto* bytes = reinterpret_cast<const std::byte*>(text);
      column.values.insert(column.values.end(), bytes, bytes + size);
    }
    column.offsets.push_back(static_cast<std::int64_t>(column.values.size()));
  }
}

template <class Value>
void put(Column& column, std::size_t row, Value value) {
  std::memcpy(column.values.data() + row * sizeof(Value), &value, sizeof(Value));
}

bool fits(const duckdb_hugeint& value) { return value.upper == (static_cast<std::int64_t>(value.lower) < 0 ? -1 : 0); }

double as_double(const duckdb_hugeint& value) {
  constexpr double kUpperUnit = 18446744073709551616.0;  // 2^64
  return static_cast<double>(value.upper) * kUpperUnit + static_cast<double>(value.lower);
}

void become_float64(Column& column) {
  column.kind = ColumnKind::float64;
  for (std::size_t row = 0; row < column.rows; ++row) {
    std::int64_t whole = 0;
    std::memcpy(&whole, column.values.data() + row * sizeof whole, sizeof whole);
    put(column, row, static_cast<double>(whole));
  }
}

void append_huge(const void* data, const std::uint64_t* validity, std::size_t count, Column& column) {
  const auto* cells = static_cast<const duckdb_hugeint*>(data);
  for (std::size_t row = 0; row < count; ++row)
    if (column.kind == ColumnKind::int64 && present(validity, row) && !fits(cells[row])) become_float64(column);
  column.values.resize((column.rows + count) * sizeof(std::int64_t));
  for (std::size_t row = 0; row < count; ++row) {
    if (!present(validity, row)) continue;
    if (column.kind == ColumnKind::int64)
      put(column, column.rows + row, static_cast<std::int64_t>(cells[row].lower));
    else
      put(column, column.rows + row, as_double(cells[row]));
  }
}

void append_fixed(const void* data, const std::uint64_t* validity, std::size_t count, Column& column) {
  const std::size_t width = width_of(column.kind), before = column.values.size();
  const auto* bytes = static_cast<const std::byte*>(data);
  column.values.insert(column.values.end(), bytes, bytes + count * width);
  for (std::size_t row = 0; validity != nullptr && row < count; ++row)  // what a missing value holds in the engine is not defined
    if (!present(validity, row)) std::memset(column.values.data() + before + row * width, 0, width);
}

}  // namespace

bool is_direct(duckdb_type type) {
  return kind_of(type) != ColumnKind::int64 || type == DUCKDB_TYPE_BIGINT || type == DUCKDB_TYPE_HUGEINT;
}

ColumnBuilder::ColumnBuilder(duckdb::Cursor& cursor, const std::vector<std::string>& types) {
  for (std::size_t i = 0; i < cursor.column_count(); ++i) {
    types_.push_back(cursor.column_type(i));
    Column column;
    column.name = cursor.column_name(i);
    column.type = types[i];
    column.kind = kind_of(types_.back());
    if (column.type.empty()) column.type = column.kind == ColumnKind::date ? "DATE" : "TIMESTAMP";
    if (column.kind == ColumnKind::text) column.offsets.push_back(0);
    answer_.columns.push_back(std::move(column));
  }
}

void ColumnBuilder::append(const duckdb::DataChunk& chunk) {
  const std::size_t count = chunk.size();
  for (std::size_t i = 0; i < answer_.columns.size(); ++i) {
    Column& column = answer_.columns[i];
    const duckdb_vector vector = chunk.column(i);
    const void* data = duckdb_vector_get_data(vector);
    const std::uint64_t* validity = duckdb_vector_get_validity(vector);
    if (column.kind == ColumnKind::text)
      append_text(data, validity, count, column);
    else if (types_[i] == DUCKDB_TYPE_HUGEINT)
      append_huge(data, validity, count, column);
    else
      append_fixed(data, validity, count, column);
    append_validity(validity, count, column);
    column.rows += count;
  }
  answer_.rows += count;
}

Columns ColumnBuilder::take() { return std::move(answer_); }

core::Result<Columns> gather(duckdb::Cursor& cursor, const std::vector<std::string>& types) {
  ColumnBuilder builder(cursor, types);
  for (;;) {
    AACO_ASSIGN(const duckdb::DataChunk chunk, cursor.next());
    if (!chunk.valid() || chunk.size() == 0) return builder.take();
    builder.append(chunk);
  }
}

}  // namespace aaco::tracelake::columns
