#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace aaco::stats {

// Rows of features, one after the other. NaN is a value that is missing: every split says where those go.
struct FeatureTable {
  std::vector<float> values;
  std::size_t columns = 0;
  [[nodiscard]] std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  [[nodiscard]] std::span<const float> row(std::size_t index) const {
    return std::span(values).subspan(index * columns, columns);
  }
};

// squared: answers the mean. absolute: the median. logistic: targets 0 or 1, answers the log of the odds. softmax: targets
// 0 .. classes - 1, answers one score a class (their softmax are the probabilities). relative: targets are logarithms, and what
// is kept small is the mean of |exp(answer - target) - 1|, rounded off where it is below a tenth.
enum class TreeLoss { squared, absolute, logistic, softmax, relative };

struct TreeSettings {
  TreeLoss loss = TreeLoss::squared;
  int classes = 1;  // of softmax
  int rounds = 300;
  int depth = 7;  // of a tree, 1 to 14
  double learning_rate = 0.08;
  double row_ratio = 1;       // of the rows that each tree sees
  double column_ratio = 1;    // of the features that each tree sees
  double least_weight = 2;    // of rows in a leaf (of their second derivatives)
  double leaf_penalty = 1;    // on the squares of leaf values
  int bins = 256;             // that a feature is cut into
  std::vector<int> monotone;  // a feature: 1 the answer never falls with it, -1 never rises, 0 free; empty: all free
  int threads = 2;            // at most; few rows are fitted by one, which is faster
  std::uint64_t seed = 1;
};

// Trees whose leaves are added up. Needs no library to be read and to answer. Copies share the nodes.
class BoostedTrees {
 public:
  // A node is a split (answers go on at the next node if row[feature] < value, else at `right`) or a leaf.
  struct Node {
    std::int32_t feature = -1;  // -1: a leaf
    float value = 0;            // the threshold, or the leaf's addend
    std::int32_t right = 0;     // the node on the other side, above this one's number
    bool missing_left = false;
    bool operator==(const Node&) const = default;
  };

  BoostedTrees() = default;
  // `roots`: where each tree starts; tree i adds to score i % bases.size(). invalid_input where a split leads nowhere, back or
  // out of its tree, names a feature beyond `columns`, or a number is not finite.
  static core::Result<BoostedTrees> of(std::size_t columns, std::vector<double> bases, std::vector<Node> nodes,
                                       std::vector<std::int32_t> roots);
  // Of packed_nodes(), which stay where they are and are kept alive by `owner`; refuses what of() refuses, and any number of
  // trees but `trees`. The bytes must lie as a float does. About a nanosecond a node.
  static core::Result<BoostedTrees> in_place(std::size_t columns, std::vector<double> bases, std::size_t trees,
                                             std::span<const std::byte> packed, std::shared_ptr<const void> owner);

  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::size_t scores() const { return bases_.size(); }
  [[nodiscard]] std::size_t trees() const { return roots_.size(); }
  [[nodiscard]] bool empty() const { return bases_.empty(); }
  // The first score of a row of columns() features; about a microsecond a hundred trees.
  [[nodiscard]] double predict(std::span<const float> row) const;
  [[nodiscard]] std::vector<double> predict_all(std::span<const float> row) const;

  [[nodiscard]] const std::vector<double>& bases() const { return bases_; }
  // The nodes as they lie in memory and in files, each in kPackedNode bytes (docs/formats/calibration.md).
  [[nodiscard]] std::span<const std::byte> packed_nodes() const { return std::as_bytes(nodes_); }
  static constexpr std::size_t kPackedNode = 8, kMaxColumns = 65535;
  // All trees one after the other, each in the order of a walk that goes left first.
  [[nodiscard]] std::vector<Node> nodes() const;

  // For small documents: the nodes as text (docs/formats/calibration.md). from_json() refuses what of() refuses.
  [[nodiscard]] core::Json to_json() const;
  static core::Result<BoostedTrees> from_json(const core::Json& document);
  bool operator==(const BoostedTrees& other) const;

 private:
  // Little endian, as the processors are that this runs on.
  struct Packed {
    float value = 0;
    std::uint16_t feature = 0;  // kLeaf: none
    std::uint16_t right = 0;    // of a split: how far on its right node lies; the top bit: missing values go left
  };
  static constexpr std::uint16_t kLeaf = 0xffff, kMissingLeft = 0x8000, kMaxDistance = 0x7fff;
  static double leaf_of(const Packed* node, std::span<const float> row);
  static core::Result<Packed> pack(const Node& node, std::size_t at);
  static core::Result<std::vector<std::int32_t>> roots_of(std::span<const Packed> nodes, std::size_t columns);

  std::size_t columns_ = 0;
  std::vector<double> bases_;
  std::span<const Packed> nodes_;
  std::shared_ptr<const void> owner_;  // of the nodes
  std::vector<std::int32_t> roots_;
};

// Fits gradient-boosted trees (Friedman, 2001; the histogram method of XGBoost, Chen and Guestrin, 2016). The same input,
// settings and number of threads give the same trees. `weights` of the rows (positive) may be empty. invalid_argument where
// settings, numbers of rows or targets do not fit; unsupported where the program was built without the library.
core::Result<BoostedTrees> fit_trees(const FeatureTable& features, std::span<const float> targets,
                                     const TreeSettings& settings = {}, std::span<const float> weights = {});

}  // namespace aaco::stats
