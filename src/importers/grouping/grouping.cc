#include "importers/grouping.h"

#include <algorithm>
#include <set>

#include "core/files.h"
#include "core/strings.h"
#include "importers/any_database.h"
#include "importers/file_source.h"
#include "importers/grouping/copies.h"
#include "importers/grouping/counter_runs.h"
#include "importers/grouping/lesser_forms.h"
#include "importers/grouping/nsys_reports.h"
#include "importers/grouping/programs.h"
#include "importers/grouping/ranks.h"
#include "importers/grouping/rocm_files.h"
#include "importers/kineto.h"

namespace aaco::importers::grouping {
namespace {

// Whether a file's name, or its folder's, says that it is of a capture ("capture_bs8.json.gz", "graph_capture/rank0.json").
bool is_named_capture(const std::string& path) {
  return core::to_lower(core::base_name(path)).find("capture") != std::string::npos ||
         core::to_lower(core::base_name(core::parent_path(path))).find("capture") != std::string::npos;
}

bool is_trace(const InputFile& file) { return file.info.grouping == Grouping::traces; }

// Databases hold a process or several each, and say more of them than their names. Those of ROCm's profilers are joined below.
void find_database_ranks(std::vector<InputFile>& files) {
  std::set<std::string> formats;
  for (const InputFile& file : files)
    if (file.info.grouping == Grouping::processes) formats.insert(file.info.name);
  for (const std::string& format : formats) {
    std::vector<InputFile*> databases;
    std::vector<FileProcesses> processes;
    for (InputFile& file : files) {
      if (file.info.name != format) continue;
      const auto inside = any_database::processes_of(file.path);
      databases.push_back(&file);
      processes.push_back({inside.count, {inside.claims, kineto::rank_of({}, {}, core::base_name(file.path))}});
    }
    const auto ranks = assign_file_ranks(processes);
    for (std::size_t i = 0; i < databases.size(); ++i) {
      databases[i]->rank = ranks[i].rank;
      databases[i]->rank_base = ranks[i].base;
    }
  }
}

// PyTorch traces that are named for a capture, where others stand beside them, are no time that was spent.
void take_named_captures(Inputs& inputs) {
  const auto is_capture = [](const InputFile& file) { return is_trace(file) && is_named_capture(file.path); };
  const auto is_other = [&](const InputFile& file) { return is_trace(file) && !is_capture(file); };
  if (std::none_of(inputs.files.begin(), inputs.files.end(), is_other)) return;
  for (const InputFile& file : inputs.files)
    if (is_capture(file)) inputs.captures.push_back(file.path);
  std::erase_if(inputs.files, is_capture);
}

// A Kineto trace is a process each; the files of the other profilers belong to one.
void find_ranks(Inputs& inputs) {
  std::vector<InputFile>& files = inputs.files;
  std::vector<InputFile*> traces;
  std::vector<RankClue> clues;
  for (InputFile& file : files) {
    if (!is_trace(file)) continue;
    const auto head = read_head(file.path);
    traces.push_back(&file);
    clues.push_back({head ? kineto::rank_of(*head, {}, {}) : std::nullopt, kineto::rank_of({}, {}, core::base_name(file.path))});
  }
  if (traces.empty() || (traces.size() == 1 && !clues[0].text)) return;  // a lone trace's file name says nothing of other ranks
  const auto ranks = assign_ranks(clues);
  for (std::size_t i = 0; i < traces.size(); ++i) {
    traces[i]->rank = ranks[i];
    if (clues[i].text && *clues[i].text != ranks[i])
      inputs.warnings.push_back({"import.rank_taken",
                                 core::base_name(traces[i]->path) + " has the same rank (" + std::to_string(*clues[i].text) +
                                     ") as another file: imported as rank " + std::to_string(ranks[i]),
                                 "import traces of the same rank taken at different times separately"});
  }
}

// Files of ROCm's profilers belong together by their names; they are read behind the others, in the order that joins them.
void join_rocm_files(std::vector<InputFile>& files) {
  std::vector<InputFile> others, ours;
  for (InputFile& file : files) {
    const bool rocm = file.info.grouping == Grouping::rocm;
    if (rocm)
      if (const auto head = read_head(file.path)) file.table = rocm_table_of(*head);
    (rocm ? ours : others).push_back(std::move(file));
  }
  std::vector<RocmFile> described;
  for (const InputFile& file : ours) {
    RocmFile& one = described.emplace_back(RocmFile{file.path, file.info.name, file.table, {}});
    if (file.table != RocmTable::kernels && file.table != RocmTable::counters) continue;
    if (const auto head = read_head(file.path)) one.kernels = first_kernel_names(*head);
  }
  for (RocmPlace& place : place_files(described)) {
    InputFile& file = ours[place.file];
    file.rank = place.rank;
    if (place.pass > 0 && file.info.numbers_passes) file.pass = place.pass;
    file.place = std::move(place);
    others.push_back(std::move(file));
  }
  files = std::move(others);
}

bool is_program(const InputFile& file) { return file.info.grouping == Grouping::program; }

void keep_one_program(Inputs& inputs) {
  std::vector<std::string> programs;
  for (const InputFile& file : inputs.files)
    if (is_program(file)) programs.push_back(file.path);
  if (programs.size() < 2) return;
  const std::string chosen = programs[choose_program(programs)];
  std::erase_if(inputs.files, [&](const InputFile& file) {
    if (!is_program(file) || file.path == chosen) return false;
    inputs.passed.push_back({file.path, "a session has only one model: the one from " + core::base_name(chosen) + " was used"});
    return true;
  });
}

}  // namespace

core::Result<Inputs> find_inputs(const std::vector<std::string>& paths) {
  Inputs inputs;
  inputs.importers = builtin_importers();
  std::set<std::string> seen;
  for (const std::string& path : paths) {
    AACO_ASSIGN(auto found, discover(path, inputs.importers));
    for (const auto& file : found.files)
      if (seen.insert(core::absolute_path(file.path)).second)
        inputs.files.push_back({file.path, file.importer, file.importer->info(), std::nullopt});
    inputs.passed.insert(inputs.passed.end(), found.passed.begin(), found.passed.end());
  }
  if (inputs.files.empty())
    return core::fail(core::ErrorCode::invalid_input, "none of the files is in a supported profile format",
                      "'aaco import --help' lists the supported formats");
  leave_out_copies(inputs);
  leave_out_lesser_forms(inputs);  // which are no ranks
  take_named_captures(inputs);
  find_ranks(inputs);
  find_database_ranks(inputs.files);
  join_nsys_reports(inputs);
  join_rocm_files(inputs.files);
  leave_out_lesser_forms(inputs);  // of the runs that are known now
  keep_one_program(inputs);
  return inputs;
}

}  // namespace aaco::importers::grouping
