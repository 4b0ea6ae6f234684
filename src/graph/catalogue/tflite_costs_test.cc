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

}  // namespace
}  // namespace aaco::graph
