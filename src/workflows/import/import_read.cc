#include "workflows/import/import_read.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "importers/file_source.h"
#include "workflows/import/counted_source.h"
#include "workflows/import/rocm_join.h"

namespace aaco::workflows {
namespace {

using core::Json;
using importers::grouping::InputFile;

trace::Account failed_account(const InputFile& file, const core::Error& error) {
  trace::Account account;
  account.source = file.info.name;
  account.state = trace::Account::State::failed;
  account.reason = core::base_name(file.path) + ": " + error.text();
  return account;
}

void note_failure(const InputFile& file, const core::Error& error, Read& read, SessionDraft& draft) {
  if (read.first_error.message.empty()) read.first_error = error;
  draft.manifest().accounts.push_back(failed_account(file, error));
  draft.warn("import.file_failed", core::base_name(file.path) + " could not be imported: " + error.message, error.remedy);
}

Json entry_of(const InputFile& file, const importers::ImportResult& result) {
  Json entry = Json::object({{"file", core::base_name(file.path)}, {"format", file.info.name}});
  entry.set_if("bytes", core::file_size(file.path) ? Json(*core::file_size(file.path)) : Json());
  if (file.rank) entry.set("rank", *file.rank);
  if (file.pass) entry.set("pass", *file.pass);
  if (!result.host.empty()) entry.set("host", result.host);
  entry.set_if("facts", result.facts);
  return entry;
}

// Each profiler has a clock of its own, and the same kernel may be in the files of two.
void warn_of_profilers(const std::map<std::string, std::string>& with_kernels, SessionDraft& draft) {
  if (with_kernels.size() < 2) return;
  std::vector<std::string> names;
  for (const auto& [profiler, file] : with_kernels) names.push_back(file + " (" + profiler + ")");
  draft.warn("import.several_profilers",
             "kernels come from " + std::to_string(with_kernels.size()) + " profilers, " + core::join(names, ", ") +
                 ": counts and sums cover all of them, and their clocks may differ",
             "import the files of each profiler separately, and compare the sessions (aaco diff)");
}

core::Result<importers::ImportResult> read_file(const InputFile& file, ImportSink& sink, RocmJoin& join,
                                                const Services& services) {
  sink.begin_file(file.place ? join.rules(*file.place, file.table) : FileRules{file.rank, false, std::nullopt, file.rank_base});
  AACO_ASSIGN(const auto source, importers::open_file_source(file.path));
  CountedSource counted(*source, core::base_name(file.path), services.progress);
  AACO_ASSIGN(auto result, importers::import_source(*file.importer, counted, sink));
  if (file.place) join.done(*file.place, core::base_name(file.path), sink.file(), result, file.table);
  return result;
}

// Of a database of rocprofv3: the number of a device is of one agent of one machine, whichever process tells of it.
bool agents_agree(const Json& facts) {
  std::map<std::int64_t, std::int64_t> nodes;  // of devices, as the driver numbers them
  for (const Json& agent : facts["agents"].items()) {
    const auto device = agent["device"].as_i64(), node = agent["node"].as_i64();
    if (device && node && nodes.try_emplace(*device, *node).first->second != *node) return false;
  }
  std::set<std::string> hosts;
  for (const Json& node : facts["nodes"].items()) hosts.emplace(node["host"].text());
  return hosts.size() == 1;
}

// Whether equal device numbers in the file are one GPU: rocprofv3 numbers the agents of the machine; a process of CUDA numbers
// those that it sees, so that only a machine with one GPU says which they are. rocmProfileData counts from the first GPU that
// a process sees, so that the numbers of two processes may be of different GPUs.
bool numbers_by_machine(const InputFile& file, const importers::ImportResult& result) {
  if (file.info.name == "rocpd") return agents_agree(result.facts);
  if (file.info.name == "nsys") return result.facts["devices"].items().size() == 1;
  return file.info.name == "rocprofv3";
}

// A log of an SMI tool has the machine's time or none, a trace the clock of its profiler: how far they are apart is not known, so
// that no reading may stand beside a kernel. Of logs alone nothing is joined.
bool has_foreign_clock(const InputFile& file, const std::vector<InputFile>& all) {
  const auto is_log = [](const InputFile& one) { return one.info.name == "smi"; };
  return is_log(file) && !std::all_of(all.begin(), all.end(), is_log);
}

void warn_of_foreign_clock(const InputFile& file, SessionDraft& draft) {
  draft.warn(
      "import.clock_unknown",
      core::base_name(file.path) +
          " was left out: the offset of its clock from that of the trace is not known, so its readings "
          "cannot be joined with kernels by time",
      "import it separately and compare totals; to have clocks and power on the trace's clock, take a profiler that records "
      "them (rocmProfileData, Nsight Systems)");
}

// The size of the job and the ranks of it that the files state.
struct StatedJob {
  std::int64_t size = 0;
  std::set<std::int64_t> ranks;
};

StatedJob stated_job(const Read& read) {
  StatedJob job;
  const auto add = [&job](std::optional<std::int64_t> size, std::optional<std::int64_t> rank) {
    if (size) job.size = std::max(job.size, *size);
    if (rank) job.ranks.insert(*rank);
  };
  for (const auto& result : read.results) {
    const Json& distributed = result.facts["distributed"];
    add(distributed["world_size"].as_i64(), result.rank);
    for (const Json& entry : result.facts["ranks"].items())
      add(core::parse_i64(entry["job"]["world_size"].text()), entry["job"]["rank"].as_i64());
  }
  return job;
}

}  // namespace

bool Read::states_ranks() const { return stated_job(*this).ranks.size() > 1; }

void warn_of_missing_ranks(const Read& read, SessionDraft& draft) {
  constexpr std::size_t kMaxListed = 8;
  const StatedJob job = stated_job(read);
  const auto count = static_cast<std::int64_t>(job.ranks.size());
  if (job.size <= count || count == 0) return;
  std::vector<std::string> listed;
  for (const std::int64_t rank : job.ranks)
    if (listed.size() < kMaxListed) listed.push_back(std::to_string(rank));
  if (listed.size() < job.ranks.size()) listed.emplace_back("...");
  draft.warn("import.ranks_missing",
             "the job has " + std::to_string(job.size) + " ranks, and the files are of " + std::to_string(count) + " (rank " +
                 core::join(listed, ", ") + "): waits for the others and the slowest rank cannot be determined",
             "import the traces of all ranks together");
}

core::Result<Read> read_files(const importers::grouping::Inputs& inputs, ImportSink& sink, SessionDraft& draft,
                              const Services& services) {
  Read read;
  RocmJoin join;
  std::vector<const InputFile*> files;              // of the results
  std::set<std::string> hosts;                      // of device work
  std::map<std::string, std::string> with_kernels;  // by profiler: its first file that has some
  for (const InputFile& file : inputs.files) {
    if (services.stopping()) return core::fail(core::ErrorCode::cancelled, "import interrupted", "run the import again");
    if (has_foreign_clock(file, inputs.files)) {
      read.passed.push_back({file.path, "its clock differs from the trace's"});
      warn_of_foreign_clock(file, draft);
      continue;
    }
    if (const std::string why = file.place ? join.skip(*file.place, file.table) : ""; !why.empty()) {
      read.passed.push_back({file.path, why});
      continue;
    }
    services.progress("importing " + core::base_name(file.path));
    auto result = read_file(file, sink, join, services);
    AACO_TRY(sink.status());
    if (!result) {
      note_failure(file, result.error(), read, draft);
      continue;
    }
    if (sink.file().kernels > 0) with_kernels.emplace(file.info.profiler, core::base_name(file.path));
    if (read.results.empty()) read.clock = result->clock;
    if (result->clock != read.clock)
      draft.warn("import.clocks_differ",
                 core::base_name(file.path) + " uses a different clock (" + std::string(core::to_string(result->clock)) +
                     ") than the first file (" + std::string(core::to_string(read.clock)) +
                     "): its rows cannot be aligned with the others",
                 "import it separately");
    if (sink.file().kernels + sink.file().copies > 0) {
      read.same_machine = read.same_machine && numbers_by_machine(file, *result);
      hosts.insert(result->host);
    }
    files.push_back(&file);
    read.results.push_back(std::move(*result));
  }
  if (read.results.empty()) return tl::unexpected<core::Error>(std::move(read.first_error));
  read.same_machine = read.same_machine && hosts.size() == 1;
  read.counters_apart = join.counters_apart();
  if (read.counters_apart)
    draft.warn("import.counter_pass",
               "the hardware counters come from other runs of the same kernels: they are joined by dispatch, and all times are "
               "those of the trace",
               "'aaco show' lists what each file brought");
  join.check_runs(draft);
  warn_of_profilers(with_kernels, draft);
  for (std::size_t i = 0; i < files.size(); ++i) {
    importers::ImportResult& result = read.results[i];
    if (files[i]->place && result.facts["statistics"].is_object())
      join.check_statistics(*files[i]->place, core::base_name(files[i]->path), result.facts["statistics"], sink, result);
    read.files.push(entry_of(*files[i], result));
    add_seen_devices(result.facts, files[i]->rank.value_or(0), read.devices);
    draft.manifest().accounts.push_back(result.account);
    for (const auto& warning : result.warnings) draft.manifest().warnings.push_back(warning);
  }
  return read;
}

}  // namespace aaco::workflows
