#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace aaco::workflows {

// A record of a table with named columns; what is wrong with a field is told with its column and place.
class MeasurementRow {
 public:
  using Columns = std::map<std::string, std::size_t, std::less<>>;
  MeasurementRow(const Columns& columns, const std::vector<std::string_view>& fields, std::string where)
      : columns_(columns), fields_(fields), where_(std::move(where)) {}

  [[nodiscard]] bool has(std::string_view column) const { return columns_.contains(column); }
  [[nodiscard]] std::string_view text(std::string_view column) const;  // empty where there is no such column
  // A data type by its canonical name.
  [[nodiscard]] core::Result<std::string> type(std::string_view column) const;
  [[nodiscard]] core::Result<std::int64_t> integer(std::string_view column) const;
  [[nodiscard]] core::Result<std::int64_t> integer_or(std::string_view column, std::int64_t otherwise) const;
  // Above 0 and finite.
  [[nodiscard]] core::Result<double> positive(std::string_view column) const;
  // Within the limits, which are said with `what`.
  [[nodiscard]] core::Result<double> within(std::string_view column, double least, double most, std::string_view what) const;
  [[nodiscard]] bool infinite(std::string_view column) const;
  // "1x2": two integers.
  [[nodiscard]] core::Result<std::pair<std::int64_t, std::int64_t>> pair(std::string_view column) const;
  [[nodiscard]] tl::unexpected<core::Error> wrong(std::string_view column, std::string_view what) const;
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  const Columns& columns_;
  const std::vector<std::string_view>& fields_;
  std::string where_;
};

}  // namespace aaco::workflows
