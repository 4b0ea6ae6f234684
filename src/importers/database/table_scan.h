#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/sqlite.h"
#include "importers/importer.h"

namespace aaco::importers {

inline constexpr const char* kRowWithoutTimes = "no valid timestamp";
inline constexpr const char* kRowEndsEarly = "ends before it starts";

struct RowSpan {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// Reads the tables of one database into rows. A table that is damaged gives what is whole, and the account then says so.
class TableScan {
 public:
  TableScan(const formats::sqlite::Database& database, const trace::ByteSource& source, trace::Sink& sink, ImportResult& result);

  // Visits the rows of a query, or of a whole table.
  core::Status rows(core::Result<formats::sqlite::Rows> rows, const std::function<void(const formats::sqlite::Rows&)>& visit);
  core::Status table(std::string_view table, const std::vector<std::string_view>& columns,
                     const std::function<void(const formats::sqlite::Rows&)>& visit);

  // Both times of the current row; without them the row is counted as dropped.
  std::optional<RowSpan> span(const formats::sqlite::Rows& row, int start_column, int end_column);

  [[nodiscard]] const formats::sqlite::Database& database() const { return database_; }
  [[nodiscard]] trace::Sink& sink() const { return sink_; }
  [[nodiscard]] trace::Account& account() const { return result_.account; }
  [[nodiscard]] ImportResult& result() const { return result_; }

 private:
  void report_damage(const std::string& how, const std::string& remedy);

  const formats::sqlite::Database& database_;
  std::string name_;
  trace::Sink& sink_;
  ImportResult& result_;
};

}  // namespace aaco::importers
