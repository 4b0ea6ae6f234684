#include "importers/grouping/nsys_reports.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/files.h"
#include "importers/any_database.h"
#include "importers/file_source.h"
#include "importers/grouping/ranks.h"
#include "importers/kineto.h"
#include "importers/nsys_stats.h"

namespace aaco::importers::grouping {
namespace {

using nsys_stats::Report;

struct Found {
  InputFile* file = nullptr;
  Report report = Report::unusable;
  std::string profile;  // the path before the report's name; the folder alone where the name has none
  bool named = false;
};

// Its path up to the name of a report, of today or of before 2022.
Found found(InputFile& file) {
  constexpr auto kReports = std::to_array<std::string_view>(
      {"_cuda_gpu_", "_cuda_api_", "_cuda_kern_", "_nvtx_", "_gputrace", "_cudaapitrace", "_nvtxpptrace", "_gpukernsum"});
  const auto head = read_head(file.path);
  Found out{&file, Report::unusable, core::parent_path(file.path) + "/", false};
  if (head) out.report = nsys_stats::report_of(*head).value_or(Report::unusable);
  const std::string name = core::base_name(file.path);
  for (const std::string_view report : kReports)
    if (const auto at = name.find(report); at != std::string::npos && !out.named) {
      out.profile += name.substr(0, at);
      out.named = true;
    }
  return out;
}

std::string without_extension(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot == std::string::npos || path.find('/', dot) != std::string::npos ? path : path.substr(0, dot);
}

// Without a profile's name, two reports of one kind are of two profiles.
void part_unnamed(std::vector<Found>& all) {
  std::map<std::pair<std::string, Report>, int> kinds;
  std::set<std::string> doubled;
  for (const Found& each : all)
    if (!each.named && ++kinds[{each.profile, each.report}] > 1) doubled.insert(each.profile);
  for (Found& each : all)
    if (!each.named && doubled.contains(each.profile)) each.profile = each.file->path;
}

// Why a report need not be read, or empty.
std::string needless(const Found& report, const std::vector<Found>& all, const std::map<std::string, std::string>& exports) {
  if (const auto known = exports.find(report.profile); known != exports.end())
    return "already contained in the export of the same profile, " + core::base_name(known->second);
  const bool has_times = std::any_of(all.begin(), all.end(), [](const Found& each) { return each.report != Report::unusable; });
  if (report.report == Report::unusable && (has_times || !exports.empty()))
    return "nsys summary or projection without individual kernel times: the traces were used instead";
  return {};
}

}  // namespace

void join_nsys_reports(Inputs& inputs) {
  std::vector<Found> all;
  std::map<std::string, std::string> exports;  // by their path without its extension
  std::size_t in_exports = 0;
  for (InputFile& file : inputs.files) {
    if (file.info.grouping == Grouping::reports) all.push_back(found(file));
    if (file.info.name == "nsys") exports.emplace(without_extension(file.path), file.path);
  }
  if (all.empty()) return;
  for (const auto& [profile, path] : exports) in_exports += any_database::processes_of(path).count;
  part_unnamed(all);
  std::set<std::string> passed;
  std::vector<std::string> profiles;
  for (const Found& each : all) {
    if (const std::string why = needless(each, all, exports); !why.empty()) {
      inputs.passed.push_back({each.file->path, why});
      passed.insert(each.file->path);
    } else if (std::find(profiles.begin(), profiles.end(), each.profile) == profiles.end()) {
      profiles.push_back(each.profile);
    }
  }
  if (profiles.size() + in_exports > 1 && !profiles.empty()) {
    std::vector<RankClue> clues;
    for (const std::string& profile : profiles)
      clues.push_back({std::nullopt, kineto::rank_of({}, {}, core::base_name(profile))});
    auto ranks = assign_ranks(clues);
    if (in_exports > 0)  // which have the numbers before
      for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<std::int32_t>(in_exports + i);
    for (const Found& each : all) {
      const auto at = std::find(profiles.begin(), profiles.end(), each.profile);
      if (at != profiles.end()) each.file->rank = ranks[static_cast<std::size_t>(at - profiles.begin())];
    }
  }
  std::erase_if(inputs.files, [&](const InputFile& file) { return passed.contains(file.path); });
}

}  // namespace aaco::importers::grouping
