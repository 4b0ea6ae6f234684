#include "workflows/import/rocm_join.h"

#include <algorithm>

#include "core/numbers.h"

namespace aaco::workflows {
namespace {

using importers::RocmTable;

// "8,868 calls of 595 ms"
std::string calls_of(std::int64_t count, std::int64_t total_ns) {
  return core::format_count(static_cast<double>(count)) + (count == 1 ? " call, " : " calls, ") +
         core::format_duration(static_cast<double>(total_ns));
}

bool is_document(const std::optional<RocmTable>& table) { return !table.has_value(); }

void add_counts(FileCounts& sum, const FileCounts& counts) {
  sum.kernels += counts.kernels;
  sum.kernel_sum_ns += counts.kernel_sum_ns;
  sum.copies += counts.copies;
  sum.copy_sum_ns += counts.copy_sum_ns;
  for (const auto& [domain, calls] : counts.calls) {
    sum.calls[domain].first += calls.first;
    sum.calls[domain].second += calls.second;
  }
}

}  // namespace

std::string RocmJoin::skip(const importers::grouping::RocmPlace& place, const std::optional<RocmTable>& table) const {
  if (table == RocmTable::facts) return {};
  const auto read = documents_.find({place.run, place.pass});
  if (read == documents_.end()) return {};
  return "same run as " + read->second + ", which was already imported";
}

FileRules RocmJoin::rules(const importers::grouping::RocmPlace& place, const std::optional<RocmTable>& table) {
  Run& run = runs_[place.run];
  if (run.number == 0) run.number = runs_.size();
  FileRules rules;
  rules.rank = place.rank;
  rules.run = run.number;
  rules.processes = &processes_[{place.run, place.pass}];
  const bool same_kind = table == RocmTable::kernels && run.kernels_from_table && run.kernels_pass == place.pass;
  rules.drop_kernels = run.kernels_pass.has_value() && !same_kind;
  return rules;
}

void RocmJoin::done(const importers::grouping::RocmPlace& place, const std::string& name, const FileCounts& counts,
                    importers::ImportResult& result, const std::optional<RocmTable>& table) {
  Run& run = runs_[place.run];
  add_counts(run.counts, counts);
  run.has_rank = place.rank.has_value();
  if (counts.kernels > 0 && !run.kernels_pass) {
    run.kernels_pass = place.pass;
    run.kernels_from_table = table == RocmTable::kernels;
  }
  // rocprof-compute runs the program for counters only: all of its files are passes for them.
  const bool counts_only = result.account.source == "rocprof_compute";
  const bool of_kernels = counts_only || run.kernels_pass.value_or(place.pass) == place.pass;
  if (counts.counters > 0) (of_kernels ? run.own_counters : run.other_counters) = true;
  trace::Account& account = result.account;
  if (is_document(table) && account.kept > 0) documents_.try_emplace({place.run, place.pass}, name);
  if (result.host.empty()) result.host = place.host;
  if (counts.dropped_kernels > 0) {
    const std::string what = "kernels already present in another file of the run (another pass or table)";
    const std::int64_t lost = counts.counters + counts.repeated_counters > 0 ? 0 : std::min(counts.dropped_kernels, account.kept);
    account.kept -= lost;  // a record that brought counters too is kept
    if (lost > 0) account.dropped[what] += lost;
    if (lost == 0) account.notes.push_back(std::to_string(counts.dropped_kernels) + " " + what + " were not added again");
  }
  if (counts.repeated_counters > 0)
    account.notes.push_back(core::format_count(static_cast<double>(counts.repeated_counters)) +
                            " counters were already read in an earlier pass of the dispatch");
  if (counts.renumbered_counters > 0)
    account.notes.push_back(core::format_count(static_cast<double>(counts.renumbered_counters)) +
                            " counters have a dispatch id that is reused by another kernel: the table combines several runs, so "
                            "dispatches are identified by both id and kernel");
  if (counts.unlike_dispatches > 0)
    result.warnings.push_back(
        {"import.passes_differ",
         core::format_count(static_cast<double>(counts.unlike_dispatches)) + " counters in " + name +
             " belong to dispatches that ran another kernel in an earlier pass: the passes did different work",
         "make the workload deterministic (fixed seed, no autotuning) and profile again"});
}

bool RocmJoin::counters_apart() const {
  bool any = false;
  for (const auto& [name, run] : runs_) {
    if (run.own_counters) return false;
    any = any || run.other_counters;
  }
  return any;
}

void RocmJoin::check_runs(SessionDraft& draft) const {
  std::int64_t runs = 0;
  for (const auto& [name, run] : runs_) runs += run.counts.kernels > 0 && !run.has_rank ? 1 : 0;
  if (runs > 1)
    draft.warn("import.several_runs",
               "the files contain " + std::to_string(runs) + " runs with kernels: counts and sums cover all of them",
               "import the folder or file of each run separately to compare them");
}

void RocmJoin::check_statistics(const importers::grouping::RocmPlace& place, const std::string& name,
                                const core::Json& statistics, trace::Sink& sink, importers::ImportResult& result) const {
  const auto found = runs_.find(place.run);
  const auto calls = statistics["calls"].as_i64();
  const auto total_ns = statistics["total_ns"].as_i64();
  if (found == runs_.end() || !calls || !total_ns) return;
  const FileCounts& counts = found->second.counts;
  const std::string_view subject = statistics["subject"].text();
  std::int64_t count = 0, sum_ns = 0;
  if (subject == "kernel") {
    count = counts.kernels, sum_ns = counts.kernel_sum_ns;
  } else if (subject == "copy") {
    count = counts.copies, sum_ns = counts.copy_sum_ns;
  } else if (const auto known = counts.calls.find(sink.name(subject).value); known != counts.calls.end()) {
    count = known->second.first, sum_ns = known->second.second;
  }
  if (count == 0) return;  // the trace of it is not there
  const std::string numbers = calls_of(*calls, *total_ns);
  if (count == *calls && sum_ns == *total_ns) {
    result.account.notes.push_back("the profiler's totals match the trace: " + numbers);
    return;
  }
  result.warnings.push_back({"import.statistics_differ",
                             name + " has " + numbers + ", but the trace has " + calls_of(count, sum_ns) +
                                 ": they come from different runs, or one of them is incomplete",
                             "'aaco show' lists dropped records"});
}

}  // namespace aaco::workflows
