#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "importers/database/gpu_work.h"
#include "importers/database/text_table.h"
#include "importers/nsys/machine.h"

namespace aaco::importers::nsys {

// Reads all tables of one export.
class Reader {
 public:
  Reader(TableScan& scan, const ProcessRanks& ranks);
  core::Status read();
  // Of CUDA, executed: kernels, and whole graphs that stand for theirs.
  [[nodiscard]] std::int64_t kernel_count() const { return kernel_count_; }
  [[nodiscard]] std::int64_t call_count() const { return call_count_; }  // of CUDA's API

 private:
  using Rows = formats::sqlite::Rows;

  core::Status read_kernels();
  core::Status read_graphs();
  core::Status read_copies(bool memsets);
  core::Status read_calls();
  core::Status read_library_calls(const char* table, const char* domain, const char* name_column);
  core::Status read_ranges();
  core::Status read_graph_nodes();
  core::Status read_schedule();
  core::Status read_metrics();
  core::Status read_allocations();
  void drop_unread();
  // A text of the export, or where it has none for the number "`what` 17".
  trace::NameId name(std::optional<std::int64_t> id, std::string_view what);
  void add_range(const Rows& row);
  // Fills in rank, process and thread, counts and adds.
  void add_call(trace::ApiCallRow call, std::optional<std::int64_t> global_thread);
  // Of a row of GPU work, by its process; without one, of the only process there is.
  [[nodiscard]] std::int32_t rank(std::optional<std::int64_t> global_process) const;
  [[nodiscard]] std::uint64_t correlation(std::optional<std::int64_t> global_process, std::optional<std::uint64_t> id) const;

  TableScan& scan_;
  trace::Sink& sink_;
  const ProcessRanks& ranks_;
  TextTable strings_;
  KernelSink kernels_;
  std::map<std::pair<std::int64_t, bool>, std::pair<trace::NameId, trace::NameId>>
      apis_;  // by string and whether it is the driver's
  std::int64_t kernel_count_ = 0, call_count_ = 0;
};

}  // namespace aaco::importers::nsys
