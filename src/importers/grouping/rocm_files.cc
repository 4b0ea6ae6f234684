#include "importers/grouping/rocm_files.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "importers/grouping/counter_runs.h"
#include "importers/kineto.h"

namespace aaco::importers::grouping {
namespace {

bool digits_only(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The number of "pmc_3" and "pass_3".
std::optional<int> pass_number(std::string_view folder) {
  for (const std::string_view prefix : {"pmc_", "pass_"}) {
    if (!folder.starts_with(prefix) || !digits_only(folder.substr(prefix.size()))) continue;
    const auto number = core::parse_i64(folder.substr(prefix.size()));
    if (number && *number < 1'000'000) return static_cast<int>(*number) + 1;
  }
  return std::nullopt;
}

struct PathParts {
  std::string folder;  // without those of passes
  std::string parent;  // the last of them
  int pass = 0;
};

PathParts parts_of(const std::string& path) {
  PathParts parts;
  for (std::string_view rest = path; !rest.empty();) {
    const auto slash = rest.find('/');
    if (slash == std::string_view::npos) break;  // the file itself
    const std::string_view folder = rest.substr(0, slash);
    rest.remove_prefix(slash + 1);
    if (const auto pass = pass_number(folder)) {
      parts.pass = *pass;
      continue;
    }
    if (!folder.empty()) parts.parent = folder;
    parts.folder.append(folder).append("/");
  }
  return parts;
}

// What stands before the table's name: "4711" of "4711_kernel_trace.csv", empty of "kernel_trace.csv".
std::string process_of(std::string_view name) {
  constexpr auto kTables = std::to_array<std::string_view>({
      "kernel_trace",
      "kernel_stats",
      "hip_",
      "hsa_",
      "marker_",
      "memory_copy",
      "memory_allocation",
      "scratch_memory",
      "counter_collection",
      "agent_info",
      "rccl_",
      "rocdecode_",
      "rocjpeg_",
      "pc_sampling",
      "domain_stats",
      "results",
      "kfd_",
      "rocpd",
      "ompt_",
      "kernel_names",
      "stats",
  });
  std::size_t first = std::string_view::npos;
  for (const std::string_view table : kTables) {
    const auto at = name.find(table);
    if (at == 0) return {};
    if (at != std::string_view::npos && name[at - 1] == '_') first = std::min(first, at);
  }
  return first == std::string_view::npos ? std::string() : std::string(name.substr(0, first - 1));
}

// "results" of "results.hip_stats.csv".
std::string stem_of(std::string_view name) { return std::string(name.substr(0, name.find('.'))); }

int container_of(const RocmFile& file) {
  if (file.format == "pftrace") return 3;  // says less than the others: no grids, no counters
  if (file.table) return 2;
  const bool database = file.path.ends_with(".db");
  return database == (file.format != "rocprof") ? 0 : 1;  // rocprof's JSON has what its database has, and the arrows
}

// Smaller is read first: pure times, then tables of kernels, then what has counters too.
int order_of(const RocmFile& file, const std::string& name) {
  if (file.format == "rocprof_compute") {
    if (file.table == RocmTable::facts) return 9;
    return name.starts_with("timestamps") ? 0 : name.starts_with("pmc_perf.") ? 1 : name.starts_with("pmc_dispatch") ? 8 : 2;
  }
  if (file.format == "pftrace") return 6;
  if (!file.table) return 0;
  switch (*file.table) {
    case RocmTable::kernels: return 1;
    case RocmTable::counters: return 3;  // may have the kernels; calls are placed by the kernels' processes
    case RocmTable::calls: return 4;
    case RocmTable::facts: return 5;
  }
  return 5;
}

struct Draft {
  RocmPlace place;
  int order = 0;
  std::string folder, process, name;
  bool has_events = false;
};

// Process ids differ from pass to pass: the n-th process of a pass is the n-th of the others.
void number_processes(std::vector<Draft>& drafts) {
  std::map<std::tuple<std::string, int>, std::set<std::pair<std::size_t, std::string>>> processes;  // shorter numbers first
  for (const Draft& draft : drafts)
    if (digits_only(draft.process)) processes[{draft.folder, draft.place.pass}].emplace(draft.process.size(), draft.process);
  for (Draft& draft : drafts) {
    if (!digits_only(draft.process)) {
      draft.place.run = draft.folder + draft.process;
      continue;
    }
    const auto& all = processes[{draft.folder, draft.place.pass}];
    const auto at = all.find({draft.process.size(), draft.process});
    draft.place.run = draft.folder + "process " + std::to_string(std::distance(all.begin(), at));
  }
}

// A program is traced once and run again for its hardware counters, with other process ids and often in another folder: where one
// run has a trace, runs of its kernels that have counters only are passes of it.
void join_counter_runs(std::vector<Draft>& drafts, const std::vector<RocmFile>& files) {
  std::set<std::string> traced, traced_kernels;
  int passes = 0;
  for (const Draft& draft : drafts) {
    const RocmFile& file = files[draft.place.file];
    passes = std::max(passes, draft.place.pass);
    if (!draft.has_events) continue;
    if (file.table != RocmTable::counters) traced.insert(draft.place.run);
    if (file.table == RocmTable::kernels) traced_kernels.insert(file.kernels.begin(), file.kernels.end());
  }
  if (traced.size() != 1) return;
  std::map<std::pair<std::string, int>, int> joined;  // new passes by the old run and pass
  for (Draft& draft : drafts) {
    const RocmFile& file = files[draft.place.file];
    if (file.table != RocmTable::counters || traced.contains(draft.place.run) || !is_same_program(file.kernels, traced_kernels))
      continue;
    const auto [pass, fresh] = joined.try_emplace({draft.place.run, draft.place.pass}, passes + 1);
    if (fresh) ++passes;
    draft.place.run = *traced.begin();
    draft.place.pass = pass->second;
  }
}

// Runs of rocprofv3 that have events are processes of one job: a rank each, by their names where these say so.
void number_ranks(std::vector<Draft>& drafts) {
  std::vector<std::string> runs;
  std::map<std::string, std::optional<std::int64_t>> named;
  for (const Draft& draft : drafts) {
    if (!draft.has_events || named.contains(draft.place.run)) continue;
    runs.push_back(draft.place.run);
    auto rank = kineto::rank_of({}, {}, draft.process);
    named[draft.place.run] = rank ? rank : kineto::rank_of({}, {}, draft.folder);
  }
  if (runs.size() < 2) return;
  std::set<std::int64_t> different;
  for (const auto& [run, rank] : named)
    if (rank) different.insert(*rank);
  const bool by_name = different.size() == runs.size();
  std::map<std::string, std::int32_t> ranks;
  for (const std::string& run : runs)
    ranks[run] = by_name ? static_cast<std::int32_t>(*named[run]) : static_cast<std::int32_t>(ranks.size());
  for (Draft& draft : drafts)
    if (const auto rank = ranks.find(draft.place.run); rank != ranks.end()) draft.place.rank = rank->second;
}

}  // namespace

std::vector<RocmPlace> place_files(const std::vector<RocmFile>& files) {
  std::vector<Draft> drafts, of_processes;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const RocmFile& file = files[i];
    Draft draft;
    const PathParts parts = parts_of(file.path);
    draft.name = core::base_name(file.path);
    draft.folder = parts.folder;
    draft.order = order_of(file, draft.name);
    draft.has_events = file.table != RocmTable::facts;
    draft.place = {i, parts.folder, parts.pass, container_of(file), std::nullopt, {}};
    const bool version_3 = file.format == "rocprofv3" || file.format == "rocpd" || file.format == "pftrace";
    if (version_3) draft.process = process_of(draft.name);
    if (digits_only(draft.process)) draft.place.host = parts.parent;
    if (file.format == "rocprof") draft.place.run += stem_of(draft.name);
    if (file.format == "rocprof_compute" && draft.has_events) draft.place.pass = static_cast<int>(i) + 1;
    (version_3 ? of_processes : drafts).push_back(std::move(draft));
  }
  number_processes(of_processes);
  join_counter_runs(of_processes, files);
  number_ranks(of_processes);
  drafts.insert(drafts.end(), std::make_move_iterator(of_processes.begin()), std::make_move_iterator(of_processes.end()));
  std::stable_sort(drafts.begin(), drafts.end(), [](const Draft& a, const Draft& b) {
    return std::tuple(a.place.rank.value_or(0), a.order, a.place.container, a.place.pass) <
           std::tuple(b.place.rank.value_or(0), b.order, b.place.container, b.place.pass);
  });
  std::vector<RocmPlace> places;
  for (Draft& draft : drafts) places.push_back(std::move(draft.place));
  return places;
}

}  // namespace aaco::importers::grouping
