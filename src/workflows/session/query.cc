#include "workflows/query.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>

#include "core/csv_cell.h"
#include "core/files.h"
#include "core/json.h"
#include "core/numbers.h"
#include "core/special_file.h"
#include "core/strings.h"
#include "report/terminal.h"
#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

// Interrupts a lake's query once it has taken too long; repeatedly, for an interrupt between two statements has no effect.
class TimeLimit {
 public:
  TimeLimit(tracelake::Lake& lake, std::optional<core::Nanoseconds> limit) {
    if (limit) thread_ = std::thread([this, &lake, limit = *limit] { wait(lake, limit); });
  }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
  ~TimeLimit() { finish(); }
  // Whether the limit was reached.
  bool finish() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
    return reached_;
  }

 private:
  void wait(tracelake::Lake& lake, core::Nanoseconds limit) {
    constexpr std::chrono::milliseconds kAgain{20};
    std::unique_lock lock(mutex_);
    for (auto next = limit; !changed_.wait_for(lock, next, [this] { return done_; }); next = kAgain) {
      reached_ = true;
      lake.interrupt();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false, reached_ = false;
  std::thread thread_;
};

using tracelake::QueryResult;

bool is_number(const std::string& type) {
  for (std::string_view name : {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "UTINYINT", "USMALLINT",
                                "UINTEGER", "UBIGINT", "DECIMAL"})
    if (type.starts_with(name)) return true;
  return false;
}

std::string as_csv(const QueryResult& result) {
  std::string out;
  for (std::size_t i = 0; i < result.columns.size(); ++i) out += (i ? "," : "") + core::csv_cell(result.columns[i]);
  out += "\r\n";
  for (const auto& row : result.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) out += (i ? "," : "") + (row[i] ? core::csv_cell(*row[i]) : std::string());
    out += "\r\n";
  }
  return out;
}

core::Json json_cell(const std::optional<std::string>& cell, const std::string& type) {
  if (!cell) return {};
  if (type == "BOOLEAN") return *cell == "true";
  if (is_number(type)) {
    if (const auto whole = core::parse_i64(*cell)) return *whole;
    if (const auto natural = core::parse_u64(*cell)) return *natural;
    if (const auto number = core::parse_f64(*cell)) return *number;
  }
  return *cell;
}

core::Json json_row(std::span<const std::optional<std::string>> row, const std::vector<std::string>& columns,
                    const std::vector<std::string>& types) {
  core::Json object = core::Json::object();
  for (std::size_t i = 0; i < row.size(); ++i) object.set(columns[i], json_cell(row[i], types[i]));
  return object;
}

std::string as_json(const QueryResult& result) {
  core::Json rows = core::Json::array();
  for (const auto& row : result.rows) rows.push(json_row(row, result.columns, result.types));
  return rows.dump() + "\n";
}

// Keeps rows up to the limits, then ends the query with `exhausted`.
class LimitedRows final : public tracelake::QueryVisitor {
 public:
  explicit LimitedRows(const QueryLimits& limits) : limits_(limits) {}
  core::Status begin(const std::vector<std::string>& columns, const std::vector<std::string>& types) override {
    columns_ = columns;
    types_ = types;
    return {};
  }
  core::Status row(std::span<const std::optional<std::string>> cells) override {
    for (const auto& cell : cells) bytes_ += cell ? cell->size() : 0;
    answer_.truncated = answer_.rows.items().size() == limits_.rows || bytes_ > limits_.bytes;
    if (answer_.truncated) return core::fail(core::ErrorCode::exhausted, "more rows than the limit");
    answer_.rows.push(json_row(cells, columns_, types_));
    return {};
  }
  QueryRows& answer() { return answer_; }

 private:
  const QueryLimits& limits_;
  std::vector<std::string> columns_, types_;
  std::size_t bytes_ = 0;
  QueryRows answer_;
};

// For people: what is in a cell steers no terminal and breaks no row, and no number loses digits for want of room.
std::string as_table(const QueryResult& result, int width) {
  using report::display_width;
  std::vector<std::vector<std::string>> rows(1);
  for (const std::string& column : result.columns) rows[0].push_back(report::printable(column));
  for (const auto& row : result.rows) {
    auto& cells = rows.emplace_back();
    for (const auto& cell : row) cells.push_back(cell ? report::printable(*cell) : "null");
  }
  std::vector<int> widths(result.columns.size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  for (std::size_t i = 0; i < widths.size(); ++i)
    if (!is_number(result.types[i])) widths[i] = std::min(widths[i], std::max(12, width / 2));
  std::vector<std::string> rule;
  for (const int columns : widths) rule.emplace_back(static_cast<std::size_t>(columns), '-');
  rows.insert(rows.begin() + 1, std::move(rule));
  std::string out;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      out += is_number(result.types[i]) ? report::fit_right(row[i], widths[i])
             : last                     ? report::fit(row[i], widths[i])
                                        : report::fit_left(row[i], widths[i]);
      out += last ? "\n" : "  ";
    }
  return out;
}

}  // namespace

std::string format_rows(const QueryResult& result, const std::string& format, int width) {
  if (format == "csv") return as_csv(result);
  return format == "json" ? as_json(result) : as_table(result, std::max(20, width));
}

namespace {

core::Result<std::string> answer(const QueryRequest& request, tracelake::Lake& lake) {
  if (request.format == "parquet") {
    if (request.output.empty())
      return core::fail(core::ErrorCode::invalid_argument, "cannot write parquet to a terminal", "pass a file with --output");
    if (core::is_written_in_place(request.output))
      return core::fail(core::ErrorCode::invalid_argument, request.output + " is a device or a pipe; Parquet needs a file",
                        "name a file, or use --format csv");
    AACO_TRY(lake.query_to_parquet(request.sql, request.output));
    return request.output + "\n";
  }
  AACO_ASSIGN(const QueryResult result, lake.query(request.sql));
  std::string text = format_rows(result, request.format, request.width);
  if (request.output.empty()) return text;
  AACO_TRY(core::write_file_atomic(request.output, text));
  return request.output + "\n";
}

auto too_slow(core::Nanoseconds limit, std::string remedy) {
  return core::fail(core::ErrorCode::timed_out,
                    "the query took longer than " + core::format_duration(static_cast<double>(limit.count())), std::move(remedy));
}

}  // namespace

tl::unexpected<core::Error> query_too_slow(core::Nanoseconds limit) {
  return too_slow(limit, "filter on session_id or date, or raise timeout_s");
}

core::Result<std::string> query(const QueryRequest& request, const core::Paths& paths) {
  AACO_ASSIGN(const auto lake, tracelake::Lake::open(paths.sessions));
  TimeLimit limit(*lake, request.time_limit);
  auto text = answer(request, *lake);
  if (limit.finish() && !text) return too_slow(*request.time_limit, "filter on session_id or date, or raise --timeout");
  return text;
}

core::Result<QueryRows> query_rows(const std::string& sql, const QueryLimits& limits, const core::Paths& paths) {
  AACO_ASSIGN(const auto lake, tracelake::Lake::open(paths.sessions));
  TimeLimit limit(*lake, limits.time);
  LimitedRows rows(limits);
  const auto ended = lake->stream(sql, rows);
  const bool late = limit.finish();
  if (rows.answer().truncated) return std::move(rows.answer());
  if (late && !ended) return query_too_slow(limits.time);
  AACO_TRY(ended);
  return std::move(rows.answer());
}

}  // namespace aaco::workflows
