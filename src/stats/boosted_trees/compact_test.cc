#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "stats/compact_trees.h"

namespace aaco::stats {
namespace {

using core::ErrorCode;
using Node = BoostedTrees::Node;

// Three trees: a stump, a leaf alone, and a split whose right side is a split.
BoostedTrees three(float leaf = 0.3F) {
  return BoostedTrees::of(3, {1.5},
                          {{2, 0.25F, 2, false},
                           {-1, leaf, 0, false},
                           {-1, -0.1F, 0, false},
                           {-1, 0.001F, 0, false},
                           {0, 4, 6, false},
                           {-1, 7, 0, false},
                           {2, 0.75F, 8, false},
                           {-1, 8, 0, false},
                           {-1, -9, 0, false}},
                          {0, 3, 4})
      .value();
}

core::Result<BoostedTrees> read(const std::string& bytes, std::size_t trees = 3, std::size_t columns = 3) {
  return from_compact(columns, {1.5}, trees, std::as_bytes(std::span(bytes)));
}

TEST(CompactTrees, KeepSplitsAndRoundLeaves) {
  const BoostedTrees trees = three();
  const auto again = read(to_compact(trees).value());
  ASSERT_TRUE(again) << again.error().text();
  for (const float x : {3.9F, 4.0F})
    for (const float z : {0.0F, 0.25F, 0.5F, 0.75F}) {
      const std::vector<float> row{x, 0, z};
      EXPECT_NEAR(again->predict(row), trees.predict(row), (0.3 + 9) / 127);
    }
  EXPECT_EQ(again->trees(), 3U);
}

TEST(CompactTrees, SecondRoundTripChangesNothing) {
  const std::string once = to_compact(three(0.29F)).value();
  const BoostedTrees rounded = read(once).value();
  EXPECT_EQ(to_compact(rounded).value(), once);
  EXPECT_EQ(read(to_compact(rounded).value()).value(), rounded);
}

TEST(CompactTrees, TakeAThirdOfTheBytesOfNodes) {
  core::Random random(3);
  FeatureTable features{{}, 2};
  std::vector<float> targets;
  for (int i = 0; i < 600; ++i) {
    const double x = random.uniform(), y = random.uniform();
    features.values.insert(features.values.end(), {static_cast<float>(x), static_cast<float>(y)});
    targets.push_back(static_cast<float>(std::sin(7 * x) * y));
  }
  TreeSettings settings;
  settings.rounds = 60;
  settings.depth = 5;
  settings.bins = 32;
  const auto trees = fit_trees(features, targets, settings);
  if (!trees) GTEST_SKIP() << trees.error().message;
  const std::string bytes = to_compact(*trees).value();
  EXPECT_LT(bytes.size() * 3, trees->packed_nodes().size());
  const auto again = from_compact(2, trees->bases(), trees->trees(), std::as_bytes(std::span(bytes))).value();
  for (std::size_t row = 0; row < 50; ++row)
    EXPECT_NEAR(again.predict(features.row(row)), trees->predict(features.row(row)), 0.02);
}

TEST(CompactTrees, EmptyTreesStoreThresholdCountsOnly) {
  const auto none = BoostedTrees::of(3, {1.5}, {}, {}).value();
  EXPECT_EQ(to_compact(none).value().size(), 3U);
  EXPECT_EQ(read(to_compact(none).value(), 0).value(), none);
}

TEST(CompactTrees, RefuseTooManyThresholds) {
  std::vector<Node> nodes;
  std::vector<std::int32_t> roots;
  for (int i = 0; i <= static_cast<int>(kMaxThresholds); ++i) {
    roots.push_back(static_cast<std::int32_t>(nodes.size()));
    nodes.insert(nodes.end(), {{0, static_cast<float>(i), roots.back() + 2, false}, {-1, 1, 0, false}, {-1, 2, 0, false}});
  }
  const auto bytes = to_compact(BoostedTrees::of(1, {0}, nodes, roots).value());
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ErrorCode::unsupported);
}

TEST(CompactTrees, RefuseTruncatedBytes) {
  const std::string good = to_compact(three()).value();
  for (std::size_t length = 0; length < good.size(); ++length) {
    const auto made = read(good.substr(0, length));
    ASSERT_FALSE(made) << length;
    EXPECT_EQ(made.error().code, ErrorCode::invalid_input);
  }
}

TEST(CompactTrees, RefuseWhatFollowsThem) {
  const std::string good = to_compact(three()).value();
  EXPECT_FALSE(read(good + '\0'));
  EXPECT_FALSE(read(good, 2));
  EXPECT_FALSE(read(good, 4));
  EXPECT_FALSE(read(good, std::size_t{1} << 40));
}

TEST(CompactTrees, RefuseOtherColumns) {
  const std::string good = to_compact(three()).value();
  EXPECT_FALSE(read(good, 3, 0));
  EXPECT_FALSE(read(good, 3, BoostedTrees::kMaxColumns + 1));
  EXPECT_FALSE(read(good, 3, 4));
}

TEST(CompactTrees, RefuseThresholdsOutOfOrder) {
  std::string bytes = to_compact(three()).value();
  // Of features 0 and 1: a count and a threshold, a count; of feature 2: a count and two thresholds.
  std::swap_ranges(bytes.begin() + 7, bytes.begin() + 11, bytes.begin() + 11);
  EXPECT_FALSE(read(bytes));
  bytes = to_compact(three()).value();
  bytes[4] = '\x7f';
  bytes[3] = '\xff';  // not a number
  EXPECT_FALSE(read(bytes));
}

TEST(CompactTrees, AnyChangedByteIsReadOrRefused) {
  const std::string good = to_compact(three()).value();
  for (std::size_t at = 0; at < good.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ 1 << bit);
      const auto made = read(bytes);
      EXPECT_TRUE(!made || std::isfinite(made->predict(std::vector<float>{1, 2, 3})));
    }
}

}  // namespace
}  // namespace aaco::stats
