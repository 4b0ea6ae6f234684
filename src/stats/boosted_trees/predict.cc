#include <cmath>
#include <string>
#include <utility>

#include "core/check.h"
#include "stats/boosted_trees.h"

namespace aaco::stats {
namespace {

using Node = BoostedTrees::Node;
using core::ErrorCode;

double leaf_of(const std::vector<Node>& nodes, std::int32_t at, std::span<const float> row) {
  for (;;) {
    const Node& node = nodes[static_cast<std::size_t>(at)];
    if (node.feature < 0) return node.value;
    const float value = row[static_cast<std::size_t>(node.feature)];
    const bool left = std::isnan(value) ? node.missing_left : value < node.value;
    at = left ? at + 1 : node.right;
  }
}

core::Status check_node(const Node& node, std::int32_t at, std::int32_t end, std::size_t columns) {
  if (!std::isfinite(node.value)) return core::fail(ErrorCode::invalid_input, "a tree has a number that is not finite");
  if (node.feature < 0) return {};
  if (static_cast<std::size_t>(node.feature) >= columns)
    return core::fail(ErrorCode::invalid_input,
                      "a tree splits on feature " + std::to_string(node.feature) + " of " + std::to_string(columns));
  // Forward only, so every walk ends.
  if (at + 1 >= end || node.right <= at + 1 || node.right >= end)
    return core::fail(ErrorCode::invalid_input, "a split of a tree leads out of its tree");
  return {};
}

}  // namespace

core::Result<BoostedTrees> BoostedTrees::of(std::size_t columns, std::vector<double> bases, std::vector<Node> nodes,
                                            std::vector<std::int32_t> roots) {
  if (bases.empty() || columns == 0) return core::fail(ErrorCode::invalid_input, "trees without a feature or a base score");
  for (const double base : bases)
    if (!std::isfinite(base)) return core::fail(ErrorCode::invalid_input, "the base score of trees is not finite");
  if (roots.empty() ? !nodes.empty() : roots.front() != 0)
    return core::fail(ErrorCode::invalid_input, "the first tree does not start at the first node");
  const auto count = static_cast<std::int32_t>(nodes.size());
  for (std::size_t tree = 0; tree < roots.size(); ++tree) {
    const std::int32_t begin = roots[tree], end = tree + 1 < roots.size() ? roots[tree + 1] : count;
    if (begin < 0 || begin >= end || end > count) return core::fail(ErrorCode::invalid_input, "a tree has no node");
    for (std::int32_t at = begin; at < end; ++at) AACO_TRY(check_node(nodes[static_cast<std::size_t>(at)], at, end, columns));
  }
  BoostedTrees made;
  made.columns_ = columns;
  made.bases_ = std::move(bases);
  made.nodes_ = std::move(nodes);
  made.roots_ = std::move(roots);
  return made;
}

double BoostedTrees::predict(std::span<const float> row) const {
  AACO_CHECK(!empty() && row.size() == columns_);
  double sum = bases_.front();
  for (std::size_t tree = 0; tree < roots_.size(); tree += bases_.size()) sum += leaf_of(nodes_, roots_[tree], row);
  return sum;
}

std::vector<double> BoostedTrees::predict_all(std::span<const float> row) const {
  AACO_CHECK(!empty() && row.size() == columns_);
  std::vector<double> sums = bases_;
  for (std::size_t tree = 0; tree < roots_.size(); ++tree) sums[tree % sums.size()] += leaf_of(nodes_, roots_[tree], row);
  return sums;
}

}  // namespace aaco::stats
