#include <algorithm>
#include <array>

#include "core/numbers.h"
#include "core/strings.h"
#include "core/time_text.h"
#include "formats/csv.h"
#include "formats/history/readers.h"

namespace aaco::formats::history {
namespace {

using core::ErrorCode;

constexpr std::size_t kMaxCells = 20'000'000;

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  char separator = ',';
  bool tagged = false;  // the first column names what the row is of, as "Tag=NAME"
};

using Records = std::vector<std::vector<std::string>>;

Records split_plainly(std::string_view text, char separator) {
  Records records;
  for (std::string_view line : core::split_lines(text)) {
    if (core::trim(line).empty()) continue;
    auto& record = records.emplace_back();
    for (std::string_view cell : core::split(line, separator)) record.emplace_back(core::trim(cell));
  }
  return records;
}

Records decode_commas(std::string_view text) {
  Records records;
  csv::Decoder decoder;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (decoder.next(at, end, true) == csv::Step::record) {
    auto& record = records.emplace_back();
    for (std::string_view cell : decoder.fields()) record.emplace_back(core::trim(cell));
  }
  return records;
}

char separator_of(std::string_view line) {
  char best = ',';
  for (const char one : {';', '\t'})
    if (std::count(line.begin(), line.end(), one) > std::count(line.begin(), line.end(), best)) best = one;
  return best;
}

// "-12,5" or "1.234,5e3" with a decimal point; nullopt: no number with a decimal comma.
std::optional<std::string> with_decimal_point(std::string_view text) {
  const auto comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  std::string_view whole = text.substr(0, comma);
  if (whole.starts_with('-') || whole.starts_with('+')) whole.remove_prefix(1);
  const auto groups = core::split(whole, '.');
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const bool digits = std::all_of(groups[i].begin(), groups[i].end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits || groups[i].empty() || (i > 0 && groups[i].size() != 3)) return std::nullopt;
  }
  if (groups.size() > 1 && groups.front().size() > 3) return std::nullopt;
  std::string number = (text.starts_with('-') ? "-" : "") + core::replace_all(std::string(whole), ".", "") + ".";
  number += text.substr(comma + 1);
  return comma + 1 < text.size() && core::parse_f64(number) ? std::optional(std::move(number)) : std::nullopt;
}

// A first line of numbers only is a value, not a header.
bool is_header(const std::vector<std::string>& cells, char separator) {
  return !std::all_of(cells.begin(), cells.end(), [&](const std::string& cell) {
    return core::parse_f64(cell).has_value() || (separator != ',' && with_decimal_point(cell));
  });
}

std::vector<std::string> column_numbers(std::size_t count) {
  if (count == 1) return {"value"};
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back("column " + std::to_string(i));
  return names;
}

// Lines that begin with '#' are remarks; the last of them may be the header (histogram logs write it so).
core::Result<Table> read_rows(std::string_view text, const std::string& name) {
  std::string_view remark;
  while (text.starts_with('#')) {
    const auto end = text.find('\n');
    remark = core::trim(text.substr(1, end == std::string_view::npos ? end : end - 1));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  if (core::trim(text).empty()) return core::fail(ErrorCode::invalid_input, name + " has no rows");
  const char separator = separator_of(text.substr(0, text.find('\n')));
  Records records = separator == ',' ? decode_commas(text) : split_plainly(text, separator);
  Table table;
  if (remark.find(separator) != std::string_view::npos) {
    for (std::string_view cell : core::split(remark, separator)) table.header.emplace_back(core::trim(cell));
  } else if (!records.empty() && !is_header(records.front(), separator)) {
    table.header = column_numbers(records.front().size());
  } else if (!records.empty()) {
    table.header = std::move(records.front());
    records.erase(records.begin());
  }
  table.rows = std::move(records);
  table.separator = separator;
  if (table.header.size() * table.rows.size() > kMaxCells)
    return core::fail(ErrorCode::exhausted, name + " has too many cells for a history", "keep only the most recent rows");
  table.tagged = !table.rows.empty() && !table.rows.front().empty() && table.rows.front().front().starts_with("Tag=");
  return table;
}

// Where ';' or a tab separates the cells, a number may have a decimal comma. Which one a column has must be clear: "1.234" beside
// "1,5" may be either.
core::Status read_decimal_commas(Table& table, const std::string& name) {
  for (std::size_t column = 0; column < table.header.size(); ++column) {
    std::vector<std::pair<std::string*, std::string>> numbers;
    bool points = false;
    for (auto& row : table.rows) {
      if (column >= row.size()) continue;
      if (auto number = with_decimal_point(row[column]))
        numbers.emplace_back(&row[column], *std::move(number));
      else
        points = points || (row[column].find('.') != std::string::npos && core::parse_f64(row[column]));
    }
    if (points && !numbers.empty())
      return core::fail(ErrorCode::invalid_input,
                        name + ": column '" + table.header[column] + "' mixes decimal commas and decimal points",
                        "write all its numbers with the same decimal separator");
    for (auto& [cell, number] : numbers) *cell = std::move(number);
  }
  return {};
}

enum class Kind { number, time, text };

bool named_time(std::string_view column) {
  const std::string lower = core::to_lower(column);
  for (const std::string_view name : {"time", "date", "timestamp", "when", "created"})
    if (lower == name || lower.ends_with("_" + std::string(name))) return true;
  return false;
}

bool named_label(std::string_view column) {
  const std::string lower = core::to_lower(column);
  for (const std::string_view name :
       {"commit", "version", "revision", "sha", "tag", "run", "build", "branch", "label", "name", "hash"})
    if (lower == name) return true;
  return false;
}

std::string_view cell(const std::vector<std::string>& row, std::size_t column) {
  return column < row.size() ? std::string_view(row[column]) : std::string_view();
}

Kind kind_of(const Table& table, std::size_t column) {
  if (named_label(table.header[column])) return Kind::text;
  std::size_t numbers = 0, times = 0, filled = 0;
  for (const auto& row : table.rows) {
    const std::string_view text = cell(row, column);
    if (text.empty()) continue;
    ++filled;
    numbers += core::parse_f64(text).has_value() ? 1 : 0;
    times += core::parse_time_text(text).has_value() ? 1 : 0;
  }
  if (filled > 0 && times == filled) return Kind::time;
  if (named_time(table.header[column]) && filled > 0 && numbers == filled) return Kind::time;
  return 2 * numbers > filled ? Kind::number : Kind::text;
}

std::optional<std::int64_t> time_of(std::string_view text) {
  if (const auto time = core::parse_time_text(text)) return time;
  const auto number = core::parse_f64(text);
  return number ? core::parse_epoch(*number) : std::nullopt;
}

core::Result<std::vector<std::pair<std::size_t, std::string>>> resolve(const Filter& filter, const Table& table,
                                                                       const std::string& name) {
  std::vector<std::pair<std::size_t, std::string>> wanted;
  for (const auto& [column, text] : filter) {
    const auto found = std::find(table.header.begin(), table.header.end(), column);
    if (found == table.header.end())
      return core::fail(ErrorCode::invalid_argument, name + " has no column '" + column + "' to filter by",
                        "its columns: " + core::join(table.header, ", "));
    wanted.emplace_back(static_cast<std::size_t>(found - table.header.begin()), text);
  }
  return wanted;
}

constexpr std::string_view kTag = "Tag=";

struct Columns {
  std::optional<std::size_t> time, label;
  std::vector<std::size_t> values;
};

Columns columns_of(const Table& table) {
  Columns columns;
  for (std::size_t i = table.tagged ? 1 : 0; i < table.header.size(); ++i) {
    const Kind kind = kind_of(table, i);
    if (kind == Kind::time && !columns.time) columns.time = i;
    if (kind == Kind::text && !columns.label) columns.label = i;
    if (kind == Kind::number) columns.values.push_back(i);
  }
  return columns;
}

}  // namespace

core::Result<Document> read_table(std::string_view text, const std::string& name, const Filter& filter) {
  AACO_ASSIGN(Table table, read_rows(text, name));
  if (table.separator != ',') AACO_TRY(read_decimal_commas(table, name));
  AACO_ASSIGN(const auto wanted, resolve(filter, table, name));
  const Columns columns = columns_of(table);
  Document document;
  document.format = table.tagged ? "histogram-log" : "csv";
  std::map<std::string, std::size_t> index;
  for (const auto& row : table.rows) {
    if (!std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) { return cell(row, one.first) == one.second; })) continue;
    if (table.tagged && !cell(row, 0).starts_with(kTag)) {  // its columns would stand one to the left
      const auto values = static_cast<std::int64_t>(columns.values.size());
      document.read += values;
      document.dropped["untagged row among tagged rows"] += values;
      continue;
    }
    Point point;
    if (columns.time) point.time_ns = time_of(cell(row, *columns.time));
    if (columns.label) point.label = std::string(cell(row, *columns.label));
    const std::string tag = table.tagged ? std::string(cell(row, 0).substr(kTag.size())) + ":" : std::string();
    for (const std::size_t column : columns.values) {
      const auto [found, added] = index.try_emplace(tag + table.header[column], document.series.size());
      if (added) document.series.push_back({found->first, {}, {}, {}});
      add_value(core::parse_f64(cell(row, column)), point, document.series[found->second], document);
    }
  }
  return document;
}

}  // namespace aaco::formats::history
