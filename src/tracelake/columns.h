#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace aaco::tracelake {

// How the values of a column are stored: fixed-width little-endian numbers, or text.
enum class ColumnKind {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  boolean,
  date,
  timestamp,
  text
};

// Bytes of one value: boolean 1 (0 or 1), date 4 (days since 1970), timestamp 8 (µs since 1970); text 0.
std::size_t width_of(ColumnKind kind);

// One column in contiguous memory, laid out as Arrow has it, except that booleans take a byte.
struct Column {
  std::string name;
  std::string type;  // SQL's name of the type that was read
  ColumnKind kind = ColumnKind::int64;
  std::size_t rows = 0, nulls = 0;
  std::vector<std::byte> values;       // rows values; 0 where there is none. Of text: its bytes
  std::vector<std::int64_t> offsets;   // of text: rows + 1 places in values
  std::vector<std::uint8_t> validity;  // one bit per row, least significant first; empty where no value is missing

  [[nodiscard]] bool valid(std::size_t row) const { return validity.empty() || (validity[row / 8] >> (row % 8) & 1) != 0; }
  [[nodiscard]] std::string_view text(std::size_t row) const;  // of a text column
};

// A table or the answer of a query as columns.
struct Columns {
  std::vector<Column> columns;
  std::size_t rows = 0;
};

// A table of trace/tables.h of one session, sorted by its time column; columns that older sessions lack are all missing. Fails
// with not_found where the session does not have the table.
core::Result<Columns> read_columns(const std::string& session_path, std::string_view table);

// Queries over all sessions below a root, answered as typed columns: HUGEINT (the type of a sum) is int64 where all values fit,
// else float64; decimals are float64, nested values text. As Lake (tracelake/lake.h) otherwise.
class ColumnLake {
 public:
  static core::Result<std::unique_ptr<ColumnLake>> open(const std::string& root);
  virtual ~ColumnLake() = default;
  virtual core::Result<Columns> columns(std::string_view sql) = 0;
  // Ends the query that runs on another thread: it fails.
  virtual void interrupt() = 0;
};

// The tables that a session has.
std::vector<std::string> tables_of(const std::string& session_path);

}  // namespace aaco::tracelake
