#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "importers/nsys_stats.h"
#include "importers/stream/csv_records.h"

namespace aaco::importers::nsys_stats {

enum class Column : std::uint8_t {
  start,
  end,
  duration,
  correlation,
  grid_x,
  grid_y,
  grid_z,
  block_x,
  block_y,
  block_z,
  registers,
  static_shared,
  dynamic_shared,
  bytes,
  device,
  stream,
  name,
  result,
  process,
  thread,
  range,
  other,
};

// The columns of one report: where they stand, and the units that its headings give ("Duration (ns)", "Bytes (MB)").
class Columns {
 public:
  explicit Columns(const CsvFields& header);
  // What the report holds; empty: these are no headings of one.
  [[nodiscard]] std::optional<Report> report() const { return report_; }
  [[nodiscard]] bool has(Column column) const { return index_[static_cast<std::size_t>(column)] >= 0; }
  // The field of a record, or the empty text.
  [[nodiscard]] std::string_view field(const CsvFields& fields, Column column) const {
    const std::int32_t index = index_[static_cast<std::size_t>(column)];
    return index >= 0 && static_cast<std::size_t>(index) < fields.size() ? fields[static_cast<std::size_t>(index)]
                                                                         : std::string_view();
  }
  [[nodiscard]] std::size_t size() const { return size_; }

  // Decimals of a time of that column that make it ns: 0, 3, 6 or 9. Empty where its heading has no unit of time.
  [[nodiscard]] std::optional<int> time_decimals(Column column) const { return decimals_[static_cast<std::size_t>(column)]; }
  // Bytes that one of that column's unit is.
  [[nodiscard]] std::optional<double> unit_bytes(Column column) const { return bytes_[static_cast<std::size_t>(column)]; }

 private:
  static constexpr std::size_t kColumns = static_cast<std::size_t>(Column::other) + 1;
  std::array<std::int32_t, kColumns> index_ = {};
  std::array<std::optional<int>, kColumns> decimals_;
  std::array<std::optional<double>, kColumns> bytes_;
  std::optional<Report> report_;
  std::size_t size_ = 0;
};

}  // namespace aaco::importers::nsys_stats
