#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "stats/boosted_trees/bits.h"
#include "stats/compact_trees.h"

namespace aaco::stats {
namespace {

using core::ErrorCode;
using Node = BoostedTrees::Node;

constexpr int kByteBits = 8, kFloatBits = 32;
constexpr int kLargestLeaf = 127;
constexpr int kStepBias = 128;  // of the exponent of a tree's step, in a byte
// Deeper trees are damage: fit_trees() makes 14 levels at most.
constexpr std::size_t kMaxDepth = 64;

int bits_for(std::size_t values) { return values <= 1 ? 0 : std::bit_width(values - 1); }

tl::unexpected<core::Error> compact_damage(const char* what) {
  return core::fail(ErrorCode::invalid_input, std::string("compact trees ") + what);
}

using Thresholds = std::vector<std::vector<float>>;  // of each feature, ascending

core::Result<Thresholds> thresholds_of(const std::vector<Node>& nodes, std::size_t columns) {
  Thresholds result(columns);
  for (const Node& node : nodes)
    if (node.feature >= 0) result[static_cast<std::size_t>(node.feature)].push_back(node.value);
  for (auto& values : result) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (values.size() > kMaxThresholds)
      return core::fail(ErrorCode::unsupported,
                        "a feature has " + std::to_string(values.size()) + " thresholds; compact trees have at most " +
                            std::to_string(kMaxThresholds),
                        "fit them with fewer bins");
  }
  return result;
}

// The smallest power of two that the tree's leaves are at most kLargestLeaf times of.
int step_exponent(std::span<const Node> tree) {
  float largest = 0;
  for (const Node& node : tree)
    if (node.feature < 0) largest = std::max(largest, std::abs(node.value));
  int exponent = -kStepBias;
  while (exponent < kStepBias - 1 && std::ldexp(1.0, exponent) * kLargestLeaf < static_cast<double>(largest)) ++exponent;
  return exponent;
}

// The nodes from `at` on that are one tree.
std::size_t tree_length(std::span<const Node> nodes) {
  std::size_t open = 1, length = 0;
  while (open > 0) open = nodes[length++].feature < 0 ? open - 1 : open + 1;
  return length;
}

void put_tree(std::span<const Node> tree, const Thresholds& thresholds, BitWriter& bits) {
  const int exponent = step_exponent(tree);
  const double step = std::ldexp(1.0, exponent);
  bits.put(static_cast<std::uint32_t>(exponent + kStepBias), kByteBits);
  for (const Node& node : tree) {
    bits.put(node.feature < 0 ? 1 : 0, 1);
    if (node.feature < 0) {
      const auto leaf = static_cast<std::int8_t>(std::lround(static_cast<double>(node.value) / step));
      bits.put(static_cast<std::uint8_t>(leaf), kByteBits);
      continue;
    }
    const auto feature = static_cast<std::size_t>(node.feature);
    const auto& values = thresholds[feature];
    const auto place = std::lower_bound(values.begin(), values.end(), node.value) - values.begin();
    bits.put(static_cast<std::uint32_t>(feature), bits_for(thresholds.size()));
    bits.put(static_cast<std::uint32_t>(place), bits_for(values.size()));
  }
}

// Reads what to_compact() writes; empty results are bytes that end too early.
class TreeDecoder {
 public:
  TreeDecoder(std::size_t columns, std::span<const std::byte> bytes) : bits_(bytes), thresholds_(columns) {}

  core::Status read_thresholds() {
    for (auto& values : thresholds_) {
      const auto count = bits_.take(kByteBits);
      if (!count) return compact_damage("are truncated inside their thresholds");
      for (std::uint32_t i = 0; i < *count; ++i) {
        const auto value = bits_.take(kFloatBits);
        if (!value) return compact_damage("are truncated inside their thresholds");
        values.push_back(std::bit_cast<float>(*value));
        if (!std::isfinite(values.back()) || (i > 0 && values[i - 1] >= values[i]))
          return compact_damage("have thresholds that do not ascend");
      }
    }
    return {};
  }

  core::Status read_tree(std::vector<Node>& nodes) {
    const auto exponent = bits_.take(kByteBits);
    if (!exponent) return compact_damage("are truncated");
    const double step = std::ldexp(1.0, static_cast<int>(*exponent) - kStepBias);
    std::vector<std::size_t> waiting;  // splits whose left side is being read, the innermost last
    for (;;) {
      const auto leaf = bits_.take(1);
      if (!leaf) return compact_damage("are truncated inside a tree");
      if (*leaf == 0) {
        if (waiting.size() >= kMaxDepth) return compact_damage("are nested too deeply");
        waiting.push_back(nodes.size());
        AACO_TRY(read_split(nodes));
        continue;
      }
      const auto value = bits_.take(kByteBits);
      if (!value) return compact_damage("are truncated inside a leaf");
      nodes.push_back({-1, static_cast<float>(step * static_cast<std::int8_t>(*value)), 0, false});
      // Every split whose right side has ended here is done.
      while (!waiting.empty() && nodes[waiting.back()].right != 0) waiting.pop_back();
      if (waiting.empty()) return {};
      nodes[waiting.back()].right = static_cast<std::int32_t>(nodes.size());
    }
  }

  [[nodiscard]] bool at_end() { return bits_.at_end(); }

 private:
  core::Status read_split(std::vector<Node>& nodes) {
    const auto feature = bits_.take(bits_for(thresholds_.size()));
    if (!feature || *feature >= thresholds_.size()) return compact_damage("split on an unknown feature");
    const auto& values = thresholds_[*feature];
    const auto place = bits_.take(bits_for(values.size()));
    if (!place || *place >= values.size()) return compact_damage("split at an unknown threshold");
    nodes.push_back({static_cast<std::int32_t>(*feature), values[*place], 0, false});
    return {};
  }

  BitReader bits_;
  Thresholds thresholds_;
};

}  // namespace

core::Result<std::string> to_compact(const BoostedTrees& trees) {
  const std::vector<Node> nodes = trees.nodes();
  AACO_ASSIGN(const Thresholds thresholds, thresholds_of(nodes, trees.columns()));
  BitWriter bits;
  for (const auto& values : thresholds) {
    bits.put(static_cast<std::uint32_t>(values.size()), kByteBits);
    for (const float value : values) bits.put(std::bit_cast<std::uint32_t>(value), kFloatBits);
  }
  std::span<const Node> rest(nodes);
  while (!rest.empty()) {
    const std::size_t length = tree_length(rest);
    put_tree(rest.first(length), thresholds, bits);
    rest = rest.subspan(length);
  }
  return bits.take();
}

core::Result<BoostedTrees> from_compact(std::size_t columns, std::vector<double> bases, std::size_t trees,
                                        std::span<const std::byte> bytes) {
  if (columns == 0 || columns > BoostedTrees::kMaxColumns) return compact_damage("have no features");
  TreeDecoder decoder(columns, bytes);
  AACO_TRY(decoder.read_thresholds());
  std::vector<Node> nodes;
  std::vector<std::int32_t> roots;
  for (std::size_t i = 0; i < trees; ++i) {
    roots.push_back(static_cast<std::int32_t>(nodes.size()));
    AACO_TRY(decoder.read_tree(nodes));
  }
  if (!decoder.at_end()) return compact_damage("are followed by more data");
  return BoostedTrees::of(columns, std::move(bases), std::move(nodes), std::move(roots));
}

}  // namespace aaco::stats
