#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analytics/compiler_diff.h"
#include "graph/graph.h"

// A graph before and after a compiler as rows to draw, with what repeats shown once. Pure.
namespace aaco::analytics::compiler {

// A stretch of equal words: `period` words from `begin` on, `repeats` times one after the other.
struct Stretch {
  std::size_t begin = 0, period = 1, repeats = 1;
  bool operator==(const Stretch&) const = default;
};
// The words in order as stretches without gaps. From left to right the repetition that saves most rows; at most kMaxPeriod words.
inline constexpr std::size_t kMaxPeriod = 256;
std::vector<Stretch> fold_repeats(const std::vector<std::string>& words);

// What one kernel of the graph after is made of; or nodes of which no kernel is left; or a kernel that the compiler put in.
struct DrawnRow {
  std::vector<std::size_t> nodes;    // of the graph before, of the first repetition
  std::vector<std::size_t> kernels;  // of the graph after, one per repetition; empty: none is left
  std::vector<std::size_t> from;     // places of earlier rows (counted through all blocks) whose results it reads
  Fate fate = Fate::kept;            // of the nodes; where there are none, the kernel is inserted
};
struct DrawnBlock {
  std::size_t repeats = 1;
  std::vector<DrawnRow> rows;
};
// In the order of the graph before. Adjacent nodes that are folded, or removed, share a row. What a repetition reads of the one
// before it is not in `from`.
std::vector<DrawnBlock> draw_folded(const graph::Graph& before, const graph::Graph& after, const GraphDiff& diff);

}  // namespace aaco::analytics::compiler
