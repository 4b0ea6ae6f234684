#pragma once

#include <map>
#include <string>

#include "importers/database/gpu_work.h"
#include "importers/database/table_scan.h"
#include "importers/database/text_table.h"
#include "importers/rpd/processes.h"

namespace aaco::importers::rpd {

// Reads all tables of one database.
class Reader {
 public:
  Reader(TableScan& scan, const Processes& processes);
  core::Status read();

 private:
  using Rows = formats::sqlite::Rows;
  enum class Kind : std::uint8_t { kernel, copy, memset, marker };

  std::int32_t rank(const Rows& row);  // of an operation
  void warn_of_homeless_work();
  [[nodiscard]] std::string domain_of(const Rows& row, std::string_view name);
  core::Status read_metadata();
  core::Status read_calls();
  void add_call(const Rows& row);
  core::Status read_operations();
  void add_operation(const Rows& row);
  void add_kernel(const Rows& row, RowSpan span, trace::NameId name);
  void add_copy(const Rows& row, RowSpan span, std::string_view operation);
  core::Status read_counters();
  core::Status read_monitors();

  TableScan& scan_;
  trace::Sink& sink_;
  const Processes& processes_;
  TextTable strings_;
  TextTable argument_strings_;  // a table of their own since 2024
  KernelSink kernels_;
  BoundedTexts arguments_;
  std::map<std::int64_t, Kind> kinds_;       // by operation type's string
  std::int64_t homeless_ = 0;                // operations of an unknown process
  std::map<std::int64_t, bool> work_items_;  // by API name's string: its grid counts work-items
};

}  // namespace aaco::importers::rpd
