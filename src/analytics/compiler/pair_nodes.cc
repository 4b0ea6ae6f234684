#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "analytics/compiler_diff.h"

namespace aaco::analytics::compiler {
namespace {

// What node_name() makes of a node without a name says where it stands, not which it is.
bool is_numbered(const NamedNode& node) {
  return node.name.size() > node.op_type.size() + 1 && node.name.starts_with(node.op_type) &&
         node.name[node.op_type.size()] == ' ' &&
         node.name.find_first_not_of("0123456789", node.op_type.size() + 1) == std::string::npos;
}

using Pairs = std::vector<std::optional<std::size_t>>;

Pairs pairs_by_name(const std::vector<NamedNode>& here, const std::vector<NamedNode>& there) {
  std::map<std::pair<std::string_view, std::string_view>, std::vector<std::size_t>> named;
  for (std::size_t j = 0; j < there.size(); ++j)
    if (!is_numbered(there[j])) named[{there[j].name, there[j].within}].push_back(j);
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> used;
  Pairs pairs(here.size());
  for (std::size_t i = 0; i < here.size(); ++i) {
    const std::pair<std::string_view, std::string_view> key{here[i].name, here[i].within};
    const auto found = is_numbered(here[i]) ? named.end() : named.find(key);
    if (found == named.end()) continue;
    if (std::size_t& next = used[key]; next < found->second.size()) pairs[i] = found->second[next++];
  }
  return pairs;
}

// The longest common subsequence of both ranges. Returns whether they are short enough for it.
template <class Equal>
bool align(std::size_t i0, std::size_t i1, std::size_t j0, std::size_t j1, const Equal& equal, Pairs& pairs) {
  const std::size_t rows = i1 - i0, columns = j1 - j0;
  if (rows == 0 || columns == 0) return true;
  if (rows > kMaxAligned / columns) return false;
  std::vector<std::uint32_t> length((rows + 1) * (columns + 1), 0);
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return length[i * (columns + 1) + j]; };
  for (std::size_t i = rows; i-- > 0;)
    for (std::size_t j = columns; j-- > 0;)
      at(i, j) = equal(i0 + i, j0 + j) ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
  for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
    if (equal(i0 + i, j0 + j))
      pairs[i0 + i++] = j0 + j++;
    else if (at(i + 1, j) >= at(i, j + 1))
      ++i;
    else
      ++j;
  }
  return true;
}

}  // namespace

NodePairs pair_nodes(const std::vector<NamedNode>& here, const std::vector<NamedNode>& there) {
  Pairs pairs = pairs_by_name(here, there);
  std::vector<bool> taken(there.size(), false);
  for (const auto& pair : pairs)
    if (pair) taken[*pair] = true;
  const auto equal = [&](std::size_t i, std::size_t j) {
    return pairs[i] ? *pairs[i] == j : !taken[j] && here[i].op_type == there[j].op_type && here[i].within == there[j].within;
  };
  std::size_t first = 0, i1 = here.size(), j1 = there.size();
  Pairs aligned = pairs;
  for (; first < i1 && first < j1 && equal(first, first); ++first) aligned[first] = first;
  for (; i1 > first && j1 > first && equal(i1 - 1, j1 - 1); --i1, --j1) aligned[i1 - 1] = j1 - 1;
  const bool by_place = align(first, i1, first, j1, equal, aligned);
  return {std::move(aligned), by_place};
}

}  // namespace aaco::analytics::compiler
