#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/files.h"
#include "core/result.h"
#include "trace/names.h"
#include "trace/tables.h"
#include "tracelake/duckdb/database.h"
#include "tracelake/lake.h"
#include "tracelake/store/cell.h"

namespace aaco::tracelake::store {

struct FileColumn {
  std::string_view name;
  std::string_view sql_type;
  bool required;  // has no value that means "not measured"
  int since = 1;  // the schema version that brought it
};

// The statement that reads `columns` of a Parquet file, those it lacks as NULL: what older schema versions did not have, and
// what was not measured. Fails where a required one is missing that the file's own schema version has.
core::Result<std::string> select_columns(duckdb::Connection& connection, const std::string& file,
                                         const std::vector<FileColumn>& columns, const std::vector<Instead>& instead = {});

// Reads a column's texts as names; equal neighbours cost one comparison.
class NamesRead {
 public:
  NamesRead(duckdb_vector vector, trace::NameTable& names)
      : texts_(static_cast<const duckdb_string_t*>(duckdb_vector_get_data(vector))), names_(names) {}
  trace::NameId at(std::size_t row) {
    const duckdb_string_t& cell = texts_[row];
    const std::uint32_t size = cell.value.inlined.length;
    const std::string_view text(size <= 12 ? cell.value.inlined.inlined : cell.value.pointer.ptr, size);
    if (text != last_text_ || !known_) {
      last_text_ = text;
      last_ = names_.intern(text);
      known_ = true;
    }
    return last_;
  }

 private:
  const duckdb_string_t* texts_;
  trace::NameTable& names_;
  std::string_view last_text_;
  trace::NameId last_;
  bool known_ = false;
};

template <class Row>
class TableReader {
 public:
  using Table = trace::TableOf<Row>;

  // The columns the reader asks for, in the table's order.
  static std::vector<FileColumn> columns() {
    return std::apply(
        [](auto... column) {
          return std::vector<FileColumn>{{column.name, Cell<typename decltype(column)::value_type>::kSql,
                                          !kIsOptional<typename decltype(column)::value_type>, column.since}...};
        },
        Table::columns());
  }

  // Turns a chunk of such columns into rows, appended to `rows`.
  static void append(const duckdb::DataChunk& chunk, trace::NameTable& names, std::vector<Row>& rows) {
    const std::size_t first = rows.size();
    const std::size_t count = chunk.size();
    rows.resize(first + count);
    std::size_t index = 0;
    std::apply([&](auto... column) { (fill(chunk.column(index++), column.member, names, rows.data() + first, count), ...); },
               Table::columns());
  }

 private:
  template <class Value>
  static void fill(duckdb_vector vector, Value Row::*member, trace::NameTable& names, Row* rows, std::size_t count) {
    const std::uint64_t* validity = duckdb_vector_get_validity(vector);
    const auto present = [validity](std::size_t row) {
      return validity == nullptr || (validity[row / 64] >> (row % 64) & 1) != 0;
    };
    if constexpr (kIsName<Value>) {
      NamesRead cells(vector, names);
      for (std::size_t row = 0; row < count; ++row)
        if (present(row)) rows[row].*member = cells.at(row);
    } else {
      using Plain = typename Bare<Value>::type;
      const auto* data = static_cast<const Plain*>(duckdb_vector_get_data(vector));
      for (std::size_t row = 0; row < count; ++row)
        if (present(row)) rows[row].*member = data[row];
    }
  }
  template <class Value>
  struct Bare {
    using type = Value;
  };
  template <class Value>
  struct Bare<std::optional<Value>> {
    using type = Value;
  };
};

}  // namespace aaco::tracelake::store
