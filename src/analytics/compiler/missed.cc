#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analytics/compiler_diff.h"

namespace aaco::analytics::compiler {
namespace {

std::size_t rank_of_level(std::string_view level) {
  const auto found = std::find(std::begin(kLevels), std::end(kLevels), level);
  return static_cast<std::size_t>(found - std::begin(kLevels));
}

// What says most stands first: a reason that was seen before one that rests on the pattern alone.
int rank_of_reason(const graph::NearMiss& miss) {
  if (miss.reason == "unexplained") return 3;
  if (miss.reason == "level_too_low") return 2;
  return miss.reason == "operand_not_constant" ? 1 : 0;
}

// A node outside the match that one of the two shares its kernel with.
std::optional<std::size_t> fused_elsewhere(const GraphDiff& diff, const graph::NearMiss& miss) {
  for (const std::size_t node : {miss.first, miss.second}) {
    if (!diff.nodes[node].kernel) continue;
    for (const std::size_t other : diff.kernels[*diff.nodes[node].kernel].nodes)
      if (std::find(miss.nodes.begin(), miss.nodes.end(), other) == miss.nodes.end()) return other;
  }
  return std::nullopt;
}

// Whether `node` is part of a kernel with nodes outside the match.
bool is_elsewhere(const GraphDiff& diff, const graph::NearMiss& miss, std::size_t node) {
  if (!diff.nodes[node].kernel) return false;
  const auto& others = diff.kernels[*diff.nodes[node].kernel].nodes;
  return std::any_of(others.begin(), others.end(), [&](std::size_t other) {
    return std::find(miss.nodes.begin(), miss.nodes.end(), other) == miss.nodes.end();
  });
}

bool apart(const GraphDiff& diff, const graph::NearMiss& miss) {
  const auto kernel = [&](std::size_t node) { return diff.nodes[node].kernel; };
  const auto first = kernel(miss.first), second = kernel(miss.second);
  if (!second || (!first && miss.first != miss.second)) return false;  // folded or removed
  std::set<std::optional<std::size_t>> kernels;
  for (const std::size_t node : miss.nodes)
    if (kernel(node)) kernels.insert(kernel(node));
  if (kernels.size() < 2) return false;
  if (miss.first != miss.second && first == second) return false;
  // Both are in other fusions.
  return !(is_elsewhere(diff, miss, miss.second) && (!first || is_elsewhere(diff, miss, miss.first)));
}

// What a pattern requires besides its nodes says nothing about a first node that another kernel computes; and where the compiler
// takes a copy of it into a kernel that changed for it, nothing is missed.
bool says_nothing(const GraphDiff& diff, const graph::NearMiss& miss) {
  const bool is_condition = miss.reason.ends_with("_not_covered") || miss.reason == "operand_not_quantised";
  if (is_condition && is_elsewhere(diff, miss, miss.first)) return true;
  return miss.reason.empty() && miss.copied && diff.nodes[miss.second].fate != Fate::kept;
}

}  // namespace

bool level_has(std::string_view level, std::string_view wanted) {
  return wanted.empty() || rank_of_level(level) >= rank_of_level(wanted);
}

std::vector<graph::NearMiss> missed_fusions(const GraphDiff& diff, std::vector<graph::NearMiss> near, std::string_view level) {
  std::map<std::pair<std::size_t, std::size_t>, graph::NearMiss> by_pair;
  for (graph::NearMiss& miss : near) {
    if (!apart(diff, miss) || says_nothing(diff, miss)) continue;
    if (miss.reason.empty()) miss.reason = level_has(level, miss.level) ? "unexplained" : "level_too_low";
    if (const auto other = fused_elsewhere(diff, miss); miss.reason == "unexplained" && other) {
      miss.reason = "other_fusion";
      miss.cause = other;
      miss.condition = "one of the two is part of another fused kernel; the pattern requires both";
    }
    if (miss.reason == "level_too_low") miss.condition = "level " + std::string(level) + "; the pattern requires " + miss.level;
    const auto [found, is_new] = by_pair.try_emplace({miss.second, miss.first}, miss);
    if (!is_new && rank_of_reason(miss) < rank_of_reason(found->second)) found->second = std::move(miss);
  }
  std::vector<graph::NearMiss> out;
  for (auto& [pair, miss] : by_pair) out.push_back(std::move(miss));
  return out;
}

}  // namespace aaco::analytics::compiler
