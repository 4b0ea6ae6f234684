#include "workflows/import_ranks.h"

#include <set>

namespace aaco::workflows {
namespace {

bool distinct(const std::vector<RankClue>& clues, std::optional<std::int64_t> RankClue::*member) {
  std::set<std::int64_t> seen;
  for (const RankClue& clue : clues) {
    const auto& rank = clue.*member;
    if (!rank || *rank < 0 || *rank > INT32_MAX || !seen.insert(*rank).second) return false;
  }
  return true;
}

}  // namespace

std::vector<std::int32_t> assign_ranks(const std::vector<RankClue>& clues) {
  std::vector<std::int32_t> ranks;
  const bool texts = distinct(clues, &RankClue::text);
  const bool names = !texts && distinct(clues, &RankClue::name);
  for (std::size_t i = 0; i < clues.size(); ++i)
    ranks.push_back(static_cast<std::int32_t>(texts ? *clues[i].text : names ? *clues[i].name : static_cast<std::int64_t>(i)));
  return ranks;
}

}  // namespace aaco::workflows
