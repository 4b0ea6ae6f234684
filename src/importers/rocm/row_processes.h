#pragma once

#include "importers/importer.h"
#include "importers/rocm/columns.h"
#include "trace/process_book.h"

namespace aaco::importers::rocm {

// Whose the rows of one table are, by its Guid or its process id, numbered in the book that the files of the run share.
class RowProcesses {
 public:
  RowProcesses(const Columns& columns, trace::Sink& sink);
  // What the row calls its process; empty where the table has no such column.
  [[nodiscard]] std::string_view process(const CsvFields& fields) const { return columns_.field(fields, column_); }
  trace::ProcessPlace of_work(const CsvFields& fields) { return book_.of_work(process(fields)); }
  trace::ProcessPlace of_call(const CsvFields& fields) { return book_.of_call(process(fields)); }
  // Which process became which rank, where there are several, and what could not be told apart.
  void report(ImportResult& result) const;

 private:
  const Columns& columns_;
  Column column_;
  trace::ProcessBook own_;
  trace::ProcessBook& book_;
  std::size_t early_before_;
};

}  // namespace aaco::importers::rocm
