#include "importers/rocm/row_processes.h"

#include <algorithm>

#include "importers/stream/tokens.h"

namespace aaco::importers::rocm {

RowProcesses::RowProcesses(const Columns& columns, trace::Sink& sink)
    : columns_(columns),
      column_(columns.has(Column::guid) ? Column::guid : Column::process),
      book_(sink.processes() != nullptr ? *sink.processes() : own_),
      early_before_(book_.early_callers()) {}

void RowProcesses::report(ImportResult& result) const {
  if (book_.working() > 1 && columns_.has(column_)) {
    result.account.notes.push_back(std::to_string(book_.working()) + " processes with GPU work, each treated as a rank");
    core::Json ranks = core::Json::array();
    for (const auto& [process, rank] : book_.ranks()) {
      core::Json entry = core::Json::object({{"rank", rank}});
      const auto pid = column_ == Column::process ? token_i64(process) : std::nullopt;
      entry.set(pid ? "pid" : "process", pid ? core::Json(*pid) : core::Json(clean_utf8(process)));
      ranks.push(std::move(entry));
    }
    result.facts.set("ranks", std::move(ranks));
  }
  if (book_.overflowed())
    result.warnings.push_back({"import.processes_too_many",
                               "the table lists more than " + std::to_string(trace::ProcessBook::kMax) +
                                   " processes: the others are assigned to rank 0",
                               "check that the column " + std::string(column_ == Column::guid ? "Guid" : "of process ids") +
                                   " is correct, or import the table in parts"});
  if (book_.early_callers() > std::max<std::size_t>(early_before_, 1))
    result.warnings.push_back(
        {"import.processes_mixed",
         "the calls come from " + std::to_string(book_.early_callers()) +
             " processes, but no earlier kernel identifies the process: launches may be matched to kernels of the wrong process",
         "profile each process into its own file, or import the databases"});
}

}  // namespace aaco::importers::rocm
