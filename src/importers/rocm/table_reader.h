#pragma once

#include <memory>

#include "importers/importer.h"
#include "importers/rocm/columns.h"

namespace aaco::importers::rocm {

// Turns the records of one table into rows, or into facts. Call record() for each line behind the header, then finish() once.
class TableReader {
 public:
  virtual ~TableReader() = default;
  // Every record is counted in the account, kept or dropped.
  virtual void record(const CsvFields& fields) = 0;
  // Adds facts and warnings.
  virtual void finish(ImportResult& result) = 0;
};

struct ReaderContext {
  const Columns& columns;  // outlives the reader
  trace::Sink& sink;
  trace::Account& account;
  std::string file_name;  // tells what statistics are of
};

// One line a dispatch, counters in columns of their own (Table::kernels) or in lines of their own (Table::counters).
std::unique_ptr<TableReader> make_dispatch_reader(const ReaderContext& context, Table table);
// Calls, ranges, copies, allocations and scratch memory.
std::unique_ptr<TableReader> make_call_reader(const ReaderContext& context, Table table);
// Agents, statistics, sampled program counters, sysinfo and roofline: no rows, but facts.
std::unique_ptr<TableReader> make_facts_reader(const ReaderContext& context, Table table);

// Reads a whole table. Fails where the text has no header of a known table.
core::Result<ImportResult> import_table(trace::ByteSource& source, trace::Sink& sink, std::string_view importer_name);

}  // namespace aaco::importers::rocm
