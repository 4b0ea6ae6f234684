#include "importers/database/table_scan.h"

namespace aaco::importers {

using formats::sqlite::Rows;

namespace {
constexpr std::int64_t kStatusEvery = 4096;
}

TableScan::TableScan(const formats::sqlite::Database& database, const trace::ByteSource& source, trace::Sink& sink,
                     ImportResult& result)
    : database_(database), name_(source.name()), sink_(sink), result_(result) {
  if (database.is_cut()) report_damage("the file is shorter than its header states", "copy the complete file again");
}

core::Status TableScan::rows(core::Result<Rows> rows, const std::function<void(const Rows&)>& visit) {
  if (!rows) {
    if (rows.error().code != core::ErrorCode::invalid_input) return tl::unexpected<core::Error>(std::move(rows.error()));
    report_damage(rows.error().message, rows.error().remedy);
    return {};
  }
  for (std::int64_t count = 1;; ++count) {
    const auto more = rows->next();
    if (!more && more.error().code != core::ErrorCode::invalid_input) return tl::unexpected<core::Error>(more.error());
    if (!more) report_damage(more.error().message, more.error().remedy);
    if (!more || !*more) break;
    visit(*rows);
    if (count % kStatusEvery == 0) AACO_TRY(sink_.status());
  }
  return sink_.status();
}

core::Status TableScan::table(std::string_view table, const std::vector<std::string_view>& columns,
                              const std::function<void(const Rows&)>& visit) {
  if (database_.table(table) == nullptr) return {};
  return rows(database_.select(table, columns), visit);
}

std::optional<RowSpan> TableScan::span(const Rows& row, int start_column, int end_column) {
  const auto start = row.integer(start_column);
  const auto end = row.integer(end_column);
  if (!start || !end || *start < 0 || (*start == 0 && *end == 0)) {
    account().drop(kRowWithoutTimes);
    return std::nullopt;
  }
  if (*end < *start) {
    account().drop(kRowEndsEarly);
    return std::nullopt;
  }
  return RowSpan{*start, *end};
}

void TableScan::report_damage(const std::string& how, const std::string& remedy) {
  if (account().state == trace::Account::State::partial) return;
  account().state = trace::Account::State::partial;
  account().reason = how;
  account().notes.push_back(how);
  result_.warnings.push_back(
      {"import.truncated", name_ + " is damaged or truncated: readable data is kept, totals are lower bounds", remedy});
}

}  // namespace aaco::importers
