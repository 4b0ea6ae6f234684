#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "importers/grouping.h"
#include "importers/importer.h"
#include "workflows/import/import_sink.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// What files of ROCm's profilers that are read one after the other owe to those before them. For each file: skip(), rules(), then
// after reading done().
class RocmJoin {
 public:
  // Why a file need not be read, or empty: a document or database of the same run and pass was.
  [[nodiscard]] std::string skip(const importers::grouping::RocmPlace& place,
                                 const std::optional<importers::RocmTable>& table) const;
  [[nodiscard]] FileRules rules(const importers::grouping::RocmPlace& place, const std::optional<importers::RocmTable>& table);
  // Adds to the account and the warnings what became of the file's rows.
  void done(const importers::grouping::RocmPlace& place, const std::string& name, const FileCounts& counts,
            importers::ImportResult& result, const std::optional<importers::RocmTable>& table);
  // Whether the counters come from executions other than those whose kernels were taken, so that these ran undisturbed.
  [[nodiscard]] bool counters_apart() const;
  // Warns where several runs without ranks brought kernels: executions after each other, whose sums mean little.
  void check_runs(SessionDraft& draft) const;
  // Compares the profiler's own statistics of a run with what was read of it; after all files.
  void check_statistics(const importers::grouping::RocmPlace& place, const std::string& name, const core::Json& statistics,
                        trace::Sink& sink, importers::ImportResult& result) const;

 private:
  struct Run {
    std::uint64_t number = 0;
    std::optional<int> kernels_pass;  // whose kernels are taken
    bool kernels_from_table = false;
    bool has_rank = false;
    bool own_counters = false, other_counters = false;  // from the pass of the kernels, from other passes
    FileCounts counts;
  };
  std::map<std::string, Run> runs_;
  std::map<std::pair<std::string, int>, std::string> documents_;         // by run and pass: the file that was read
  std::map<std::pair<std::string, int>, trace::ProcessBook> processes_;  // by run and pass: another execution has other ids
};

}  // namespace aaco::workflows
