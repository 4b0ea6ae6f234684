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
  if (miss.reason == "unexplained") return 4;
  if (miss.reason == "not_checked" || miss.reason == "shape_unknown") return 3;
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
  if (miss.removal) {
    const Fate fate = diff.nodes[*miss.removal].fate;
    return fate == Fate::kept || fate == Fate::rewritten;
  }
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
  if (miss.removal) return false;
  const bool is_condition = miss.reason.ends_with("_not_covered") || miss.reason == "operand_not_quantised";
  if (is_condition && is_elsewhere(diff, miss, miss.first)) return true;
  return miss.reason.empty() && miss.copied && diff.nodes[miss.second].fate != Fate::kept;
}

using ByPair = std::map<std::pair<std::size_t, std::size_t>, graph::NearMiss>;

// The same condition of a larger pattern that holds all its nodes; or the same reason, where the pattern is more than one pair.
bool is_part_of_another(const ByPair& by_pair, const graph::NearMiss& miss) {
  if (!miss.reason.ends_with("_not_covered") || miss.removal) return false;
  return std::any_of(by_pair.begin(), by_pair.end(), [&](const auto& one) {
    const graph::NearMiss& other = one.second;
    const bool is_same = other.condition == miss.condition || (other.reason == miss.reason && miss.nodes.size() > 2);
    return is_same && other.nodes.size() > miss.nodes.size() &&
           std::includes(other.nodes.begin(), other.nodes.end(), miss.nodes.begin(), miss.nodes.end());
  });
}

// Without a reason of its own, while two of its nodes have one to be apart.
bool follows_from_another(const ByPair& by_pair, const graph::NearMiss& miss) {
  if (rank_of_reason(miss) < 3 || miss.removal) return false;
  const auto has = [&](std::size_t node) { return std::find(miss.nodes.begin(), miss.nodes.end(), node) != miss.nodes.end(); };
  return std::any_of(by_pair.begin(), by_pair.end(), [&](const auto& one) {
    const graph::NearMiss& other = one.second;
    return rank_of_reason(other) < 2 && !other.removal && other.first != other.second && has(other.first) && has(other.second);
  });
}

}  // namespace

bool level_has(std::string_view level, std::string_view wanted) {
  return wanted.empty() || rank_of_level(level) >= rank_of_level(wanted);
}

std::vector<graph::NearMiss> missed_fusions(const GraphDiff& diff, std::vector<graph::NearMiss> near, std::string_view level) {
  ByPair by_pair;
  for (graph::NearMiss& miss : near) {
    if (!apart(diff, miss) || says_nothing(diff, miss)) continue;
    if (miss.reason.empty()) miss.reason = "unexplained";
    if (rank_of_reason(miss) > 2 && !level_has(level, miss.level)) miss.reason = "level_too_low";
    if (const auto other = miss.removal ? std::nullopt : fused_elsewhere(diff, miss); miss.reason == "unexplained" && other) {
      miss.reason = "other_fusion";
      miss.cause = other;
      miss.condition = "one of the two is part of another fused kernel; the pattern requires both";
    }
    if (miss.reason == "level_too_low") miss.condition = "level " + std::string(level) + "; the pattern requires " + miss.level;
    const auto [found, is_new] = by_pair.try_emplace({miss.second, miss.first}, miss);
    // Of two that say as much, the one of these two nodes alone: Conv and BatchNormalization before them and an activation.
    const auto weight = [](const graph::NearMiss& one) { return std::pair(rank_of_reason(one), one.nodes.size() > 2); };
    if (!is_new && weight(miss) < weight(found->second)) found->second = std::move(miss);
  }
  std::vector<graph::NearMiss> out;
  for (const auto& [pair, miss] : by_pair)
    if (!follows_from_another(by_pair, miss) && !is_part_of_another(by_pair, miss)) out.push_back(miss);
  return out;
}

}  // namespace aaco::analytics::compiler
