#include "workflows/import/import_read.h"

#include <map>

#include "core/files.h"
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

}  // namespace

core::Result<Read> read_files(const importers::grouping::Inputs& inputs, ImportSink& sink, SessionDraft& draft,
                              const Services& services) {
  Read read;
  RocmJoin join;
  std::vector<const InputFile*> files;              // of the results
  std::map<std::string, std::string> with_kernels;  // by profiler: its first file that has some
  for (const InputFile& file : inputs.files) {
    if (services.stopping()) return core::fail(core::ErrorCode::cancelled, "import interrupted", "run the import again");
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
    files.push_back(&file);
    read.results.push_back(std::move(*result));
  }
  if (read.results.empty()) return tl::unexpected<core::Error>(std::move(read.first_error));
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
