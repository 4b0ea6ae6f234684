#include "stats/boosted_trees.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "core/random.h"
#include "stats/boosted_trees/base64.h"
#include "stats/boosted_trees/relative_loss.h"

namespace aaco::stats {
namespace {

using core::ErrorCode;

struct Sample {
  FeatureTable features;
  std::vector<float> targets;
};

// Two features of 0..1; the target from both.
template <class Function>
Sample sample(Function target, std::size_t rows = 800) {
  Sample made{{{}, 2}, {}};
  core::Random random(5);
  for (std::size_t i = 0; i < rows; ++i) {
    const double x = random.uniform(), y = random.uniform();
    made.features.values.insert(made.features.values.end(), {static_cast<float>(x), static_cast<float>(y)});
    made.targets.push_back(static_cast<float>(target(x, y)));
  }
  return made;
}

core::Result<BoostedTrees> fit(const Sample& data, const TreeSettings& settings = {}) {
  return fit_trees(data.features, data.targets, settings);
}

// Without the library there is nothing to test but the refusal.
#define AACO_FIT(name, ...)                                                                                         \
  const auto name##_fit = __VA_ARGS__;                                                                              \
  if (!name##_fit && name##_fit.error().code == ErrorCode::unsupported) GTEST_SKIP() << name##_fit.error().message; \
  ASSERT_TRUE(name##_fit) << name##_fit.error().text();                                                             \
  const BoostedTrees& name = *name##_fit

TEST(BoostedTrees, LearnAFunction) {
  AACO_FIT(trees, fit(sample([](double x, double y) { return 10 + x * y + (x > 0.5 ? 2 : 0); })));
  EXPECT_NEAR(trees.predict(std::vector<float>{0.8F, 0.5F}), 12.4, 0.05);
  EXPECT_NEAR(trees.predict(std::vector<float>{0.2F, 0.5F}), 10.1, 0.05);
}

TEST(BoostedTrees, SameInputGivesTheSameTrees) {
  TreeSettings settings;
  settings.rounds = 20;
  settings.row_ratio = 0.7;
  const Sample data = sample([](double x, double y) { return x - y * y; });
  AACO_FIT(first, fit(data, settings));
  EXPECT_EQ(first, fit(data, settings).value());
  settings.seed = 2;
  EXPECT_NE(first, fit(data, settings).value());
}

TEST(BoostedTrees, SurviveRoundTrip) {
  AACO_FIT(trees, fit(sample([](double x, double y) { return x - y; })));
  const auto text = trees.to_json().dump(-1);
  const auto read = BoostedTrees::from_json(core::Json::parse(text).value());
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, trees);
}

TEST(BoostedTrees, MonotoneWhereAsked) {
  TreeSettings settings;
  settings.monotone = {1, 0};
  AACO_FIT(trees, fit(sample([](double x, double y) { return std::sin(9 * x) + y; }), settings));
  double last = -10;
  for (float x = 0; x < 1; x += 0.01F) {
    const double now = trees.predict(std::vector<float>{x, 0.5F});
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST(BoostedTrees, AbsoluteLossIsNotMovedByAFewOutliers) {
  TreeSettings settings;
  settings.loss = TreeLoss::absolute;
  settings.depth = 2;
  Sample data = sample([](double x, double) { return x < 0.5 ? 1 : 2; });
  for (std::size_t i = 0; i < data.targets.size(); i += 20) data.targets[i] = 1000;
  AACO_FIT(trees, fit(data, settings));
  EXPECT_NEAR(trees.predict(std::vector<float>{0.2F, 0.5F}), 1, 0.1);
}

TEST(BoostedTrees, RelativeLossFollowsFasterMode) {
  // Three of five take one second, two take 2.7: the mean of the logarithms is 0.4 and 47 % off in the mean, 0 is 25 % off.
  Sample data = sample([](double x, double) { return x < 0.5 ? 0 : 3; }, 1000);
  for (std::size_t i = 0; i < data.targets.size(); ++i) data.targets[i] += i % 5 < 2 ? 1 : 0;
  TreeSettings settings;
  settings.loss = TreeLoss::relative;
  settings.depth = 1;
  AACO_FIT(trees, fit(data, settings));
  EXPECT_NEAR(trees.predict(std::vector<float>{0.2F, 0.5F}), 0, 0.1);
  EXPECT_NEAR(trees.predict(std::vector<float>{0.8F, 0.5F}), 3, 0.1);
  settings.loss = TreeLoss::squared;
  EXPECT_NEAR(fit(data, settings)->predict(std::vector<float>{0.2F, 0.5F}), 0.4, 0.1);
}

TEST(BoostedTrees, RelativeLossUsesWeights) {
  const Sample data = sample([n = 0](double, double) mutable { return n++ % 2; }, 400);
  std::vector<float> weights;
  for (const float target : data.targets) weights.push_back(target > 0 ? 9.0F : 1.0F);
  TreeSettings settings;
  settings.loss = TreeLoss::relative;
  settings.depth = 1;
  AACO_FIT(trees, fit_trees(data.features, data.targets, settings, weights));
  EXPECT_NEAR(trees.predict(std::vector<float>{0.5F, 0.5F}), 1, 0.1);
}

TEST(RelativeLoss, PenalisesOverestimatesMore) {
  Pull pull;
  pull_of(std::vector<float>{0, 0.5F, -0.5F, 9}, std::vector<float>{0, 0, 0, 0}, {}, pull);
  EXPECT_FLOAT_EQ(pull.gradients[0], 0);
  EXPECT_FLOAT_EQ(pull.curvatures[0], 1);
  EXPECT_GT(pull.gradients[1], -pull.gradients[2]);
  EXPECT_LT(pull.curvatures[2], pull.curvatures[1]);
  EXPECT_LT(pull.gradients[3], 0.3F) << "a row far away would pull without bound";
}

TEST(BoostedTrees, Classes) {
  TreeSettings settings;
  settings.loss = TreeLoss::softmax;
  settings.classes = 3;
  settings.rounds = 30;
  AACO_FIT(trees, fit(sample([](double x, double) { return std::floor(x * 3); }), settings));
  EXPECT_EQ(trees.scores(), 3U);
  const auto scores = trees.predict_all(std::vector<float>{0.5F, 0.1F});
  EXPECT_GT(scores[1], scores[0] + 2);
  EXPECT_GT(scores[1], scores[2] + 2);
  TreeSettings two;
  two.loss = TreeLoss::logistic;
  const auto odds = fit(sample([](double x, double) { return x < 0.5 ? 0 : 1; }), two);
  EXPECT_GT(odds->predict(std::vector<float>{0.9F, 0.1F}), 2);
  EXPECT_LT(odds->predict(std::vector<float>{0.1F, 0.1F}), -2);
}

TEST(BoostedTrees, MissingValuesFollowDefaultDirection) {
  Sample data = sample([](double x, double) { return x; });
  for (std::size_t i = 0; i < data.targets.size(); i += 3) {
    data.features.values[2 * i] = std::numeric_limits<float>::quiet_NaN();
    data.targets[i] = 5;
  }
  AACO_FIT(trees, fit(data));
  EXPECT_NEAR(trees.predict(std::vector<float>{std::numeric_limits<float>::quiet_NaN(), 0.5F}), 5, 0.1);
  EXPECT_NEAR(trees.predict(std::vector<float>{0.3F, 0.5F}), 0.3, 0.1);
}

ErrorCode code_of(const core::Result<BoostedTrees>& result) { return result ? ErrorCode::cancelled : result.error().code; }

TEST(FitTrees, RefusesMismatchedShapes) {
  const Sample data = sample([](double x, double) { return x; }, 10);
  const auto with = [&](auto change) {
    TreeSettings settings;
    change(settings);
    return code_of(fit(data, settings));
  };
  EXPECT_EQ(with([](TreeSettings& s) { s.depth = 0; }), ErrorCode::invalid_argument);
  EXPECT_EQ(with([](TreeSettings& s) { s.learning_rate = 0; }), ErrorCode::invalid_argument);
  EXPECT_EQ(with([](TreeSettings& s) { s.row_ratio = 1.5; }), ErrorCode::invalid_argument);
  EXPECT_EQ(with([](TreeSettings& s) { s.monotone = {1}; }), ErrorCode::invalid_argument);
  EXPECT_EQ(with([](TreeSettings& s) { s.loss = TreeLoss::logistic; }), ErrorCode::invalid_argument) << "targets are not 0 and 1";
  EXPECT_EQ(with([](TreeSettings& s) { s.loss = TreeLoss::softmax; }), ErrorCode::invalid_argument) << "one class";
  EXPECT_EQ(code_of(fit_trees({{1, 2, 3}, 2}, std::vector<float>{1})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(fit_trees({{}, 2}, {})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(fit_trees({{1, 2}, 1}, std::vector<float>{1, std::nanf("")})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(fit_trees({{1, INFINITY}, 1}, std::vector<float>{1, 2})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(fit_trees({{1, 2}, 1}, std::vector<float>{1, 2}, {}, std::vector<float>{1, 0})), ErrorCode::invalid_argument);
}

// A split at 3 of the only feature: 1 below, 2 above.
std::vector<BoostedTrees::Node> stump() { return {{0, 3, 2, true}, {-1, 1, 0, false}, {-1, 2, 0, false}}; }

TEST(BoostedTreesOf, ByHand) {
  const auto trees = BoostedTrees::of(1, {10}, stump(), {0}).value();
  EXPECT_EQ(trees.predict(std::vector<float>{2.9F}), 11);
  EXPECT_EQ(trees.predict(std::vector<float>{3}), 12);
  EXPECT_EQ(trees.predict(std::vector<float>{std::nanf("")}), 11);
}

TEST(BoostedTreesOf, RefusesDamage) {
  const auto with = [](auto change) {
    auto nodes = stump();
    change(nodes);
    return code_of(BoostedTrees::of(1, {0}, nodes, {0}));
  };
  EXPECT_EQ(with([](auto& nodes) { nodes[0].feature = 1; }), ErrorCode::invalid_input);
  EXPECT_EQ(with([](auto& nodes) { nodes[0].right = 0; }), ErrorCode::invalid_input) << "a circle";
  EXPECT_EQ(with([](auto& nodes) { nodes[0].right = 3; }), ErrorCode::invalid_input);
  EXPECT_EQ(with([](auto& nodes) { nodes[1].value = INFINITY; }), ErrorCode::invalid_input);
  EXPECT_EQ(code_of(BoostedTrees::of(1, {}, stump(), {0})), ErrorCode::invalid_input);
  EXPECT_EQ(code_of(BoostedTrees::of(1, {0}, stump(), {1})), ErrorCode::invalid_input);
  EXPECT_EQ(code_of(BoostedTrees::of(1, {0}, stump(), {0, 3})), ErrorCode::invalid_input);
}

// The stump as packed_nodes() has it, with some bytes changed.
ErrorCode packed_code(const std::function<void(std::vector<std::byte>&)>& change, std::size_t trees = 1) {
  const auto good = BoostedTrees::of(1, {0}, stump(), {0}).value();
  auto bytes = std::make_shared<std::vector<std::byte>>(good.packed_nodes().begin(), good.packed_nodes().end());
  change(*bytes);
  const std::span<const std::byte> packed(*bytes);
  return code_of(BoostedTrees::in_place(1, {0}, trees, packed, std::move(bytes)));
}

TEST(BoostedTreesInPlace, PredictFromPackedBytes) {
  const auto made = BoostedTrees::of(1, {10}, stump(), {0}).value();
  ASSERT_EQ(made.packed_nodes().size(), 3 * BoostedTrees::kPackedNode);
  auto bytes = std::make_shared<std::vector<std::byte>>(made.packed_nodes().begin(), made.packed_nodes().end());
  const std::span<const std::byte> packed(*bytes);
  const auto read = BoostedTrees::in_place(1, {10}, 1, packed, std::move(bytes)).value();
  EXPECT_EQ(read, made);
  EXPECT_EQ(read.packed_nodes().data(), packed.data());
  EXPECT_EQ(read.predict(std::vector<float>{3}), 12);
}

TEST(BoostedTreesInPlace, RefuseDamage) {
  using Bytes = std::vector<std::byte>;
  constexpr std::size_t kFeature = 4, kRight = 6;
  EXPECT_EQ(packed_code([](Bytes&) {}), ErrorCode::cancelled) << "whole";
  EXPECT_EQ(packed_code([](Bytes& b) { b[kRight] = std::byte{0}; }), ErrorCode::invalid_input) << "a circle";
  EXPECT_EQ(packed_code([](Bytes& b) { b[kRight] = std::byte{1}; }), ErrorCode::invalid_input) << "both sides are one";
  EXPECT_EQ(packed_code([](Bytes& b) { b[kRight] = std::byte{3}; }), ErrorCode::invalid_input) << "out of the tree";
  EXPECT_EQ(packed_code([](Bytes& b) { b[kFeature] = std::byte{1}; }), ErrorCode::invalid_input) << "no such feature";
  EXPECT_EQ(packed_code([](Bytes& b) { b[8 + 2] = b[8 + 3] = std::byte{0xff}; }), ErrorCode::invalid_input) << "not a number";
  EXPECT_EQ(packed_code([](Bytes& b) { b.pop_back(); }), ErrorCode::invalid_input) << "part of a node";
  EXPECT_EQ(packed_code([](Bytes& b) { b.resize(16); }), ErrorCode::invalid_input) << "without its right side";
  EXPECT_EQ(packed_code([](Bytes&) {}, 2), ErrorCode::invalid_input) << "one tree, not two";
}

TEST(BoostedTreesFromJson, RefusesDamage) {
  const core::Json good = BoostedTrees::of(1, {0}, stump(), {0})->to_json();
  ASSERT_TRUE(BoostedTrees::from_json(good));
  const auto with = [&](std::string_view key, core::Json value) {
    core::Json document = good;
    document.set(key, std::move(value));
    return code_of(BoostedTrees::from_json(document));
  };
  EXPECT_EQ(with("columns", 0), ErrorCode::invalid_input);
  EXPECT_EQ(with("columns", 65536), ErrorCode::invalid_input);
  EXPECT_EQ(with("trees", 2), ErrorCode::invalid_input);
  EXPECT_EQ(with("bases", "0"), ErrorCode::invalid_input);
  EXPECT_EQ(with("bases", core::Json::array({"0"})), ErrorCode::invalid_input);
  EXPECT_EQ(with("nodes", std::string(good["nodes"].text()).substr(4)), ErrorCode::invalid_input);
  EXPECT_EQ(with("nodes", "????"), ErrorCode::invalid_input);
}

TEST(Base64, BothWays) {
  for (const std::string_view text : {"", "f", "fo", "foo", "foob"}) EXPECT_EQ(from_base64(to_base64(text)).value(), text);
  EXPECT_EQ(to_base64("foob"), "Zm9vYg==");
  EXPECT_FALSE(from_base64("Zm9"));
  EXPECT_FALSE(from_base64("Zm9*"));
  EXPECT_FALSE(from_base64("===="));
}

}  // namespace
}  // namespace aaco::stats
