#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "core/check.h"
#include "stats/boosted_trees.h"

namespace aaco::stats {
namespace {

using core::ErrorCode;

static_assert(std::endian::native == std::endian::little, "packed nodes have the same layout in memory and in files");

tl::unexpected<core::Error> leads_out() { return core::fail(ErrorCode::invalid_input, "a split points outside its tree"); }

core::Status check_frame(std::size_t columns, const std::vector<double>& bases) {
  if (bases.empty() || columns == 0) return core::fail(ErrorCode::invalid_input, "trees have no feature or no base score");
  if (columns > BoostedTrees::kMaxColumns)
    return core::fail(ErrorCode::invalid_input, "unsupported number of tree features: " + std::to_string(columns));
  if (!std::all_of(bases.begin(), bases.end(), [](double base) { return std::isfinite(base); }))
    return core::fail(ErrorCode::invalid_input, "the base score of the trees is not finite");
  return {};
}

}  // namespace

core::Result<BoostedTrees::Packed> BoostedTrees::pack(const Node& node, std::size_t at) {
  if (node.feature < 0) return Packed{node.value, kLeaf, 0};
  const std::int64_t distance = std::int64_t{node.right} - static_cast<std::int64_t>(at);
  if (node.feature >= kLeaf)
    return core::fail(ErrorCode::invalid_input, "a tree splits on unsupported feature " + std::to_string(node.feature));
  if (distance < 0 || distance > kMaxDistance) return leads_out();
  return Packed{node.value, static_cast<std::uint16_t>(node.feature),
                static_cast<std::uint16_t>(distance | (node.missing_left ? kMissingLeft : 0))};
}

// Nodes stand in the order of a walk that goes left first, so a tree ends with the leaf after which no split waits for its right
// side, and every walk goes forward and ends.
core::Result<std::vector<std::int32_t>> BoostedTrees::roots_of(std::span<const Packed> nodes, std::size_t columns) {
  std::vector<std::int32_t> roots;
  std::vector<std::size_t> waiting;  // right sides, the next one last
  bool inside = false;
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    const Packed& node = nodes[at];
    if (!inside) roots.push_back(static_cast<std::int32_t>(at));
    inside = true;
    if (!std::isfinite(node.value)) return core::fail(ErrorCode::invalid_input, "a tree contains a non-finite number");
    if (node.feature != kLeaf) {
      if (node.feature >= columns)
        return core::fail(ErrorCode::invalid_input, "a tree splits on feature " + std::to_string(node.feature) +
                                                        ", but there are only " + std::to_string(columns));
      waiting.push_back(at + (node.right & kMaxDistance));
    } else if (waiting.empty()) {
      inside = false;
    } else {
      if (waiting.back() != at + 1) return leads_out();
      waiting.pop_back();
    }
  }
  if (inside) return core::fail(ErrorCode::invalid_input, "the last tree is truncated inside a split");
  return roots;
}

core::Result<BoostedTrees> BoostedTrees::of(std::size_t columns, std::vector<double> bases, std::vector<Node> nodes,
                                            std::vector<std::int32_t> roots) {
  auto packed = std::make_shared<std::vector<Packed>>();
  packed->reserve(nodes.size());
  for (const Node& node : nodes) {
    AACO_ASSIGN(const Packed one, pack(node, packed->size()));
    packed->push_back(one);
  }
  const std::span<const std::byte> bytes = std::as_bytes(std::span(std::as_const(*packed)));
  AACO_ASSIGN(BoostedTrees made, in_place(columns, std::move(bases), roots.size(), bytes, std::move(packed)));
  if (made.roots_ != roots) return core::fail(ErrorCode::invalid_input, "the trees do not start at their declared offset");
  return made;
}

core::Result<BoostedTrees> BoostedTrees::in_place(std::size_t columns, std::vector<double> bases, std::size_t trees,
                                                  std::span<const std::byte> packed, std::shared_ptr<const void> owner) {
  static_assert(sizeof(Packed) == kPackedNode);
  AACO_CHECK(reinterpret_cast<std::uintptr_t>(packed.data()) % alignof(Packed) == 0);
  AACO_TRY(check_frame(columns, bases));
  const std::size_t count = packed.size() / kPackedNode;
  constexpr std::size_t kMaxNodes = 0x7fffffff;
  if (packed.size() % kPackedNode != 0 || count > kMaxNodes)
    return core::fail(ErrorCode::invalid_input, "invalid size of packed trees: " + std::to_string(packed.size()) + " bytes");
  BoostedTrees made;
  made.columns_ = columns;
  made.bases_ = std::move(bases);
  made.nodes_ = {reinterpret_cast<const Packed*>(packed.data()), count};
  made.owner_ = std::move(owner);
  AACO_ASSIGN(made.roots_, roots_of(made.nodes_, columns));
  if (made.roots_.size() != trees)
    return core::fail(ErrorCode::invalid_input,
                      "packed data contains " + std::to_string(made.roots_.size()) + " trees, expected " + std::to_string(trees));
  return made;
}

std::vector<BoostedTrees::Node> BoostedTrees::nodes() const {
  std::vector<Node> result;
  result.reserve(nodes_.size());
  for (const Packed& node : nodes_) {
    const auto at = static_cast<std::int32_t>(result.size());
    if (node.feature == kLeaf)
      result.push_back({-1, node.value, 0, false});
    else
      result.push_back({node.feature, node.value, at + (node.right & kMaxDistance), (node.right & kMissingLeft) != 0});
  }
  return result;
}

double BoostedTrees::leaf_of(const Packed* node, std::span<const float> row) {
  while (node->feature != kLeaf) {
    const float value = row[node->feature];
    const bool left = std::isnan(value) ? (node->right & kMissingLeft) != 0 : value < node->value;
    node += left ? 1 : node->right & kMaxDistance;
  }
  return node->value;
}

double BoostedTrees::predict(std::span<const float> row) const {
  AACO_CHECK(!empty() && row.size() == columns_);
  double sum = bases_.front();
  for (std::size_t tree = 0; tree < roots_.size(); tree += bases_.size())
    sum += leaf_of(&nodes_[static_cast<std::size_t>(roots_[tree])], row);
  return sum;
}

std::vector<double> BoostedTrees::predict_all(std::span<const float> row) const {
  AACO_CHECK(!empty() && row.size() == columns_);
  std::vector<double> sums = bases_;
  for (std::size_t tree = 0; tree < roots_.size(); ++tree)
    sums[tree % sums.size()] += leaf_of(&nodes_[static_cast<std::size_t>(roots_[tree])], row);
  return sums;
}

bool BoostedTrees::operator==(const BoostedTrees& other) const {
  const auto same = [](const Packed& a, const Packed& b) {
    return a.value == b.value && a.feature == b.feature && a.right == b.right;
  };
  return columns_ == other.columns_ && bases_ == other.bases_ && roots_ == other.roots_ &&
         std::equal(nodes_.begin(), nodes_.end(), other.nodes_.begin(), other.nodes_.end(), same);
}

}  // namespace aaco::stats
