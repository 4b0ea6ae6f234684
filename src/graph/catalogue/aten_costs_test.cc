#include <gtest/gtest.h>

#include "graph/cost.h"

namespace aaco::graph {
namespace {

constexpr std::int64_t kSteps = 10, kBatch = 2, kFeatures = 16, kHidden = 32;

GraphCost cost(const std::string& op, const std::vector<Shape>& inputs, const Shape& output,
               std::vector<Attribute> attributes = {}) {
  Graph graph;
  graph.opsets = {{"aten", 10}};
  Node node{op, op, "aten", {}, {}, std::move(attributes)};
  for (const Shape& shape : inputs)
    node.inputs.push_back(graph.add_tensor({"x" + std::to_string(graph.tensors.size()), ElementType::float32, shape}));
  node.outputs = {graph.add_tensor({"y", ElementType::float32, output})};
  graph.nodes = {node};
  return cost_of(graph);
}

// One layer: matrices of the input and of the state, a bias each.
std::vector<Shape> layer(std::int64_t gates, std::int64_t states) {
  std::vector<Shape> inputs{{kSteps, kBatch, kFeatures}};
  inputs.insert(inputs.end(), static_cast<std::size_t>(states), Shape{1, kBatch, kHidden});
  for (const std::int64_t width : {kFeatures, kHidden}) inputs.push_back({gates * kHidden, width});
  for (int bias = 0; bias < 2; ++bias) inputs.push_back({gates * kHidden});
  return inputs;
}

TEST(AtenRecurrent, CountsAsTheSameOperatorOfOnnxDoes) {
  Graph onnx;
  onnx.opsets = {{"", 17}};
  Node node{"lstm", "LSTM", "", {}, {}, {{"hidden_size", kHidden}}};
  for (const Shape& shape : {Shape{kSteps, kBatch, kFeatures}, Shape{1, 4 * kHidden, kFeatures}, Shape{1, 4 * kHidden, kHidden}})
    node.inputs.push_back(onnx.add_tensor({"x" + std::to_string(onnx.tensors.size()), ElementType::float32, shape}));
  node.outputs = {onnx.add_tensor({"y", ElementType::float32, Shape{kSteps, 1, kBatch, kHidden}})};
  onnx.nodes = {node};
  const GraphCost made = cost("lstm", layer(4, 2), {kSteps, kBatch, kHidden});
  EXPECT_TRUE(made.unmodelled.empty());
  EXPECT_EQ(made.flops, cost_of(onnx).flops);
  EXPECT_EQ(made.nodes.front().cost.steps, kSteps);
}

TEST(AtenRecurrent, EveryMatrixOfEveryLayerMultiplies) {
  std::vector<Shape> inputs = layer(3, 1);
  const double one = cost("gru", inputs, {kSteps, kBatch, kHidden}).flops;
  inputs.push_back({3 * kHidden, kHidden});
  inputs.push_back({3 * kHidden, kHidden});
  const GraphCost two = cost("gru", inputs, {kSteps, kBatch, kHidden}, {{"num_layers", std::int64_t{2}}});
  EXPECT_GT(two.flops, one + 2.0 * kSteps * kBatch * 3 * kHidden * 2 * kHidden);
  EXPECT_EQ(two.nodes.front().cost.steps, 2 * kSteps);
}

TEST(AtenRecurrent, WithoutWeightsItHasNoCost) {
  EXPECT_FALSE(cost("gru", {{kSteps, kBatch, kFeatures}, {1, kBatch, kHidden}}, {kSteps, kBatch, kHidden}).unmodelled.empty());
}

TEST(AtenGather, ABagReadsTheRowsItSums) {
  const GraphCost made = cost("_embedding_bag", {{1000, 64}, {50}, {8}}, {8, 64});
  EXPECT_EQ(made.flops, 50 * 64);
  EXPECT_EQ(made.bytes_read, 4.0 * (50 * 64 + 50 + 8));
  EXPECT_EQ(made.bytes_written, 4.0 * 8 * 64);
}

TEST(AtenResize, CornersByTheNameOfTheOperator) {
  const auto flops = [](const std::string& op) { return cost(op, {{1, 3, 8, 8}}, {1, 3, 16, 16}).flops / (3 * 16 * 16); };
  EXPECT_EQ(flops("upsample_bilinear2d"), 2 * 4);
  EXPECT_EQ(flops("upsample_bicubic2d"), 2 * 16);
  EXPECT_EQ(flops("upsample_nearest2d"), 0);
}

TEST(AtenDistances, EveryPairIsCompared) {
  EXPECT_EQ(cost("_cdist_forward", {{2, 10, 3}, {2, 20, 3}}, {2, 10, 20}).flops, 3.0 * 2 * 10 * 20 * 3);
}

TEST(AtenProducts, ARowOfAGroupMeetsOneOfItsMatrices) {
  EXPECT_EQ(cost("_grouped_mm", {{64, 256}, {8, 256, 512}, {8}}, {64, 512}).flops, 2.0 * 64 * 256 * 512);
  EXPECT_EQ(cost("_grouped_mm", {{8, 64, 256}, {8, 256, 512}}, {8, 64, 512}).flops, 2.0 * 8 * 64 * 256 * 512);
}
TEST(AtenProducts, PackedWeightsHaveTheirBits) {
  const GraphCost made = cost("_weight_int4pack_mm", {{64, 256}, {64, 4, 32, 4}, {8, 512, 2}}, {64, 512});
  EXPECT_EQ(made.flops, 2.0 * 64 * 256 * 512);
  EXPECT_EQ(std::get<GemmSite>(made.nodes[0].cost.site).weight_bits, 4);
}
TEST(AtenTransforms, CountOverTheirDimensions) {
  EXPECT_EQ(cost("_fft_c2c", {{4, 8, 16}}, {4, 8, 16}, {{"dim", std::vector<std::int64_t>{1, 2}}}).flops, 5 * 7 * 512);
  EXPECT_EQ(cost("fft_rfft", {{4, 16}}, {4, 9}, {{"dim", std::int64_t{-1}}}).flops, 5 * 4 * 64 / 2);
  EXPECT_FALSE(cost("fft_rfft", {{4, 16}}, {4, 9}, {{"dim", std::int64_t{5}}}).unmodelled.empty());
}
TEST(AtenAliases, CountAsWhatTheyAre) {
  EXPECT_EQ(cost("multiply_", {{4, 8}, {4, 8}}, {4, 8}).flops, 32);
  EXPECT_EQ(cost("swapaxes", {{4, 8}}, {8, 4}).bytes_read, 0);
  EXPECT_EQ(cost("concat", {{4, 8}, {4, 8}}, {8, 8}).bytes_written, 256);
}

}  // namespace
}  // namespace aaco::graph
