#include "importers/grouping/ranks.h"

#include <algorithm>
#include <set>

namespace aaco::importers::grouping {
namespace {

bool is_rank(const std::optional<std::int64_t>& rank) { return rank && *rank >= 0 && *rank <= INT32_MAX; }

bool distinct(const std::vector<RankClue>& clues, std::optional<std::int64_t> RankClue::*member) {
  std::set<std::int64_t> seen;
  for (const RankClue& clue : clues) {
    const auto& rank = clue.*member;
    if (!is_rank(rank) || !seen.insert(*rank).second) return false;
  }
  return true;
}

std::vector<std::int32_t> fill_up(const std::vector<RankClue>& clues) {
  std::vector<std::int32_t> ranks(clues.size(), -1);
  std::set<std::int32_t> taken;
  for (std::size_t i = 0; i < clues.size(); ++i) {
    const auto& own = is_rank(clues[i].text) ? clues[i].text : clues[i].name;
    if (is_rank(own) && taken.insert(static_cast<std::int32_t>(*own)).second) ranks[i] = static_cast<std::int32_t>(*own);
  }
  std::int32_t next = 0;
  for (std::int32_t& rank : ranks) {
    if (rank >= 0) continue;
    while (taken.contains(next)) ++next;
    rank = next++;
  }
  return ranks;
}

}  // namespace

std::vector<std::int32_t> assign_ranks(const std::vector<RankClue>& clues) {
  for (const auto member : {&RankClue::text, &RankClue::name}) {
    if (!distinct(clues, member)) continue;
    std::vector<std::int32_t> ranks;
    for (const RankClue& clue : clues) ranks.push_back(static_cast<std::int32_t>(*(clue.*member)));
    return ranks;
  }
  return fill_up(clues);
}

std::vector<FileRanks> assign_file_ranks(const std::vector<FileProcesses>& files) {
  std::vector<FileRanks> ranks(files.size());
  if (files.size() == 1) {
    if (files[0].count == 1 && files[0].clue.text && *files[0].clue.text >= 0 && *files[0].clue.text <= INT32_MAX)
      ranks[0].rank = static_cast<std::int32_t>(*files[0].clue.text);
    return ranks;
  }
  if (std::all_of(files.begin(), files.end(), [](const FileProcesses& file) { return file.count == 1; })) {
    std::vector<RankClue> clues;
    for (const FileProcesses& file : files) clues.push_back(file.clue);
    const auto assigned = assign_ranks(clues);
    for (std::size_t i = 0; i < files.size(); ++i) ranks[i].rank = assigned[i];
    return ranks;
  }
  std::int32_t next = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].count == 1)
      ranks[i].rank = next;
    else
      ranks[i].base = next;
    next += static_cast<std::int32_t>(files[i].count);
  }
  return ranks;
}

}  // namespace aaco::importers::grouping
