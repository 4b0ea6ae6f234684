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
    result.account.notes.push_back(std::to_string(book_.working()) + " processes with GPU work: each is a rank");
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
                               "the table names more than " + std::to_string(trace::ProcessBook::kMax) +
                                   " processes: those beyond share rank 0 with the first",
                               "see whether its column " + std::string(column_ == Column::guid ? "Guid" : "of process ids") +
                                   " is what it should be, or import parts of it"});
  if (book_.early_callers() > std::max<std::size_t>(early_before_, 1))
    result.warnings.push_back({"import.processes_mixed",
                               "the calls are of " + std::to_string(book_.early_callers()) +
                                   " processes, and no kernels before them say whose they are: launches may be joined to the "
                                   "wrong process's kernels",
                               "profile each process into files of its own, or import the databases"});
}

}  // namespace aaco::importers::rocm
