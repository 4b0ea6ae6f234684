#pragma once

#include <map>
#include <string>

#include "importers/database/gpu_work.h"
#include "importers/database/text_table.h"
#include "importers/rocpd/event_arguments.h"
#include "importers/rocpd/process_tables.h"

namespace aaco::importers::rocpd {

// Reads the tables of one group.
class Reader {
 public:
  Reader(TableScan& scan, const TableGroup& group, const ProcessRanks& ranks);
  core::Status read();

 private:
  using Rows = formats::sqlite::Rows;
  struct Symbol {
    trace::NameId name;
    std::optional<std::int64_t> sgpr_count, vgpr_count;
  };
  // What every row of an event has: the columns 0 to 3 of its query.
  struct Who {
    std::int64_t process = 0, thread = 0;
    std::uint64_t stack_id = 0, external_id = 0;
  };

  core::Status read_kernels();
  core::Status read_copies();
  core::Status read_regions();
  core::Status read_samples();
  core::Status read_sampled_counters();
  void note_stacks();
  core::Status read_allocations();
  core::Status read_counters();
  void add_kernel(const Rows& row);
  void add_call(const Rows& row, trace::ApiCallRow call);

  static constexpr int kOwn = 4;  // the first of a query's own columns: Who's come before
  static std::string quoted(const std::string& name);
  // There are counters that were sampled over time: a sample and the values have the event in common.
  [[nodiscard]] bool has_sampled_counters() const;
  // "SELECT ... FROM table t LEFT JOIN event e": Who's columns, then `columns` of the table, then the event's category and data.
  [[nodiscard]] std::string event_query(const char* table, const std::vector<const char*>& columns) const;
  [[nodiscard]] std::string column(const char* table, const char* alias, const char* name) const;
  [[nodiscard]] Who who(const Rows& row) const;
  [[nodiscard]] std::int64_t pid(std::int64_t process) const;
  [[nodiscard]] std::int64_t device(std::optional<std::int64_t> agent) const;
  [[nodiscard]] std::optional<std::int64_t> gpu(std::optional<std::int64_t> agent) const;
  const Symbol& symbol(std::int64_t id);
  trace::NameId domain(std::optional<std::int64_t> category);

  TableScan& scan_;
  trace::Sink& sink_;
  const TableGroup& group_;
  const ProcessRanks& ranks_;
  TextTable strings_;
  TextTable counters_;
  KernelSink kernels_;
  BoundedTexts arguments_;
  EventArguments event_arguments_;
  std::optional<Rows> symbols_;
  std::map<std::int64_t, Symbol> known_symbols_;
  std::map<std::int64_t, trace::NameId> domains_;
};

}  // namespace aaco::importers::rocpd
