#include <gtest/gtest.h>

#include "graph/cost.h"

namespace aaco::graph {
namespace {

double flops(const std::string& op, const std::vector<Shape>& inputs, const Shape& output) {
  Graph graph;
  Node node{op, op, "tflite", {}, {}, {}};
  for (const Shape& shape : inputs)
    node.inputs.push_back(graph.add_tensor({"x" + std::to_string(graph.tensors.size()), ElementType::float32, shape}));
  node.outputs = {graph.add_tensor({"y", ElementType::float32, output})};
  graph.nodes = {node};
  const GraphCost made = cost_of(graph);
  EXPECT_TRUE(made.unmodelled.empty()) << op;
  return made.flops;
}

TEST(Tflite, RecurrentOperatorsMultiplyBothMatricesEachStep) {
  constexpr double kMatrices = 32 * 16 + 32 * 32;
  EXPECT_EQ(flops("RNN", {{2, 16}, {32, 16}, {32, 32}, {32}, {2, 32}}, {2, 32}), 2 * 2 * kMatrices);
  EXPECT_EQ(flops("UNIDIRECTIONAL_SEQUENCE_RNN", {{2, 10, 16}, {32, 16}, {32, 32}, {32}, {2, 32}}, {2, 10, 32}),
            2 * 2 * 10 * kMatrices);
  EXPECT_EQ(flops("SVDF", {{1, 40}, {64, 40}, {64, 8}, {64}, {1, 512}}, {1, 64}), 2.0 * (64 * 40 + 64 * 8));
}

TEST(Tflite, AConvolutionOfThreeDimensions) {
  EXPECT_EQ(flops("CONV_3D", {{1, 8, 16, 16, 3}, {3, 3, 3, 3, 24}}, {1, 6, 14, 14, 24}), 2.0 * 6 * 14 * 14 * 24 * 27 * 3);
}

// The inputs of a sequence LSTM: coupled ones lack the matrices of the input gate.
std::vector<Shape> lstm(std::int64_t features, std::int64_t cells, std::int64_t outputs) {
  std::vector<Shape> inputs = {{4, 10, features}};
  for (int gate = 0; gate < 4; ++gate) inputs.push_back({cells, features});
  for (int gate = 0; gate < 4; ++gate) inputs.push_back({cells, outputs});
  for (int peephole = 0; peephole < 3; ++peephole) inputs.push_back({0});
  for (int bias = 0; bias < 4; ++bias) inputs.push_back({cells});
  inputs.push_back({outputs, cells});
  return inputs;
}
TEST(Tflite, AnLstmMultipliesItsGatesAndItsProjection) {
  const double step = 2.0 * (4 * 32 * (16 + 24) + 24 * 32);
  EXPECT_EQ(flops("UNIDIRECTIONAL_SEQUENCE_LSTM", lstm(16, 32, 24), {4, 10, 24}), 4 * 10 * step);
  std::vector<Shape> both = lstm(16, 32, 24), backwards = lstm(16, 32, 24);
  both.push_back({24});
  both.insert(both.end(), backwards.begin() + 1, backwards.end());
  EXPECT_EQ(flops("BIDIRECTIONAL_SEQUENCE_LSTM", both, {4, 10, 48}), 2 * 4 * 10 * step);
}
TEST(Tflite, TheBasicLstmHasOneMatrix) {
  EXPECT_EQ(flops("LSTM", {{3, 16}, {3, 32}, {128, 48}, {128}, {3, 32}}, {3, 32}), 2.0 * 3 * 128 * 48);
}
TEST(Tflite, FullyConnectedLayerFlattensItsInput) {
  Graph graph;
  Node node{"fc", "FULLY_CONNECTED", "tflite", {}, {}, {}};
  node.inputs = {graph.add_tensor({"x", ElementType::float32, Shape{2, 7, 7, 64}}),
                 graph.add_tensor({"w", ElementType::int8, Shape{10, 3136}})};
  node.outputs = {graph.add_tensor({"y", ElementType::float32, Shape{2, 10}})};
  graph.initializers = {{node.inputs[1], {}}};
  const NodeCost cost = cost_of(graph, node);
  EXPECT_EQ(cost.flops, 2.0 * 2 * 10 * 3136);
  EXPECT_EQ(cost.site, Site(GemmSite{1, 2, 10, 3136, true, 0}));
  EXPECT_EQ(cost.weight_bytes, 31360);  // eight bits each beside activations of 32
  EXPECT_EQ(cost.type, ElementType::float32);
}
TEST(Tflite, ATransposedConvolutionComputesInItsDatasType) {
  Graph graph;
  Node node{"up", "TRANSPOSE_CONV", "tflite", {}, {}, {{"strides", std::vector<std::int64_t>{2, 2}}}};
  node.inputs = {
      graph.add_tensor({"size", ElementType::int32, Shape{4}}), graph.add_tensor({"w", ElementType::float32, Shape{3, 2, 2, 8}}),
      graph.add_tensor({"x", ElementType::float32, Shape{1, 4, 4, 8}}), graph.add_tensor({"b", ElementType::float32, Shape{3}})};
  node.outputs = {graph.add_tensor({"y", ElementType::float32, Shape{1, 8, 8, 3}})};
  const NodeCost cost = cost_of(graph, node);
  EXPECT_EQ(cost.flops, 2.0 * 4 * 4 * 8 * 3 * 4 + 8 * 8 * 3);
  EXPECT_EQ(cost.type, ElementType::float32);
  EXPECT_TRUE(std::get<ConvolutionSite>(cost.site).transposed);
}
TEST(Tflite, AnEmbeddingReadsTheRowsItPicks) {
  Graph graph;
  Node node{"rows", "EMBEDDING_LOOKUP", "tflite", {}, {}, {}};
  node.inputs = {graph.add_tensor({"ids", ElementType::int32, Shape{5}}),
                 graph.add_tensor({"table", ElementType::int8, Shape{1000, 8}})};
  node.outputs = {graph.add_tensor({"y", ElementType::float32, Shape{5, 8}})};
  const NodeCost cost = cost_of(graph, node);
  EXPECT_EQ(cost.bytes_read, 5 * 4 + 5 * 8);
  EXPECT_EQ(cost.bytes_written, 5 * 8 * 4);
}

}  // namespace
}  // namespace aaco::graph
