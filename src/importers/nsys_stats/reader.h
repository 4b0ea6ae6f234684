#pragma once

#include <map>
#include <optional>
#include <string>

#include "importers/nsys_stats/columns.h"
#include "importers/rocm/values.h"
#include "trace/process_book.h"

namespace aaco::importers::nsys_stats {

// Turns the records of the reports of one text into rows. Call record() for each record, then finish() once.
class Reader {
 public:
  Reader(trace::Sink& sink, ImportResult& result);
  // Headings begin a report; what nsys says between reports is passed over. Fails where times have no unit.
  core::Status record(const CsvFields& fields, bool terminated);
  // Adds facts and warnings. Fails where no report had times.
  core::Status finish(std::string_view source_name);
  [[nodiscard]] bool is_cut() const { return cut_; }

 private:
  struct Span {
    std::int64_t start_ns = 0, end_ns = 0;
  };

  core::Status begin(const Columns& columns);
  void row(const CsvFields& fields);
  std::optional<Span> span(const CsvFields& fields, const char*& why_not);
  void gpu_work(const CsvFields& fields, Span span);
  void call(const CsvFields& fields, Span span);
  std::int64_t device(std::string_view text);
  std::optional<std::int64_t> bytes(const CsvFields& fields, Column column);

  trace::Sink& sink_;
  ImportResult& result_;
  trace::ProcessBook own_processes_;
  trace::ProcessBook& processes_;
  rocm::PlainIds names_;
  std::optional<Columns> columns_;
  std::map<std::string, std::int64_t, std::less<>> devices_;  // their numbers by what the report calls them
  std::int64_t reports_ = 0, messages_ = 0, coarse_times_ = 0, coarse_sizes_ = 0;
  bool cut_ = false;
};

}  // namespace aaco::importers::nsys_stats
