#include <gtest/gtest.h>

#include "graph/cost.h"

namespace aaco::graph {
namespace {

// Three standard nodes and one of com.microsoft, each on a tensor of its own size.
Graph four_nodes() {
  Graph graph;
  graph.format_version = 8;
  graph.opsets = {{"", 17}, {"com.microsoft", 1}};
  TensorId at = graph.add_tensor({"x", ElementType::float32, Shape{4, 8}});
  graph.inputs = {at};
  for (const auto& [op, domain] : {std::pair{"Relu", ""}, {"Exp", ""}, {"Relu", ""}, {"FastGelu", "com.microsoft"}}) {
    const TensorId next = graph.add_tensor({op + std::to_string(graph.nodes.size()), ElementType::float32, Shape{4, 8}});
    graph.nodes.push_back({"", op, domain, {at}, {next}, {}});
    at = next;
  }
  graph.outputs = {at};
  return graph;
}

GraphCost cost_with(std::map<std::string, std::int64_t> opsets, std::int64_t format = 8) {
  static Graph graph;
  graph = four_nodes();
  graph.opsets = std::move(opsets);
  graph.format_version = format;
  return cost_of(graph);
}

TEST(NewerVersions, SupportedVersionsKeepConfidence) {
  for (const std::int64_t opset : {7, 17, 23}) {
    const GraphCost cost = cost_with({{"", opset}, {"com.microsoft", 1}}, 13);
    EXPECT_TRUE(cost.newer.empty()) << opset;
    EXPECT_EQ(cost.confidence, 1);
  }
}

TEST(NewerVersions, AnOperatorSetIsNamedWithItsNodesAndLowersConfidence) {
  const GraphCost one = cost_with({{"", 24}}), far = cost_with({{"", 99}});
  ASSERT_EQ(one.newer.size(), 1U);
  EXPECT_EQ(one.newer[0].what, "ai.onnx");
  EXPECT_EQ(one.newer[0].nodes, 3);
  EXPECT_NE(describe(one.newer[0]).find("24, newer than the supported 23"), std::string::npos);
  EXPECT_NEAR(one.confidence, 1 - 0.75 * 0.17, 1e-9);
  EXPECT_NEAR(far.confidence, 0.25, 1e-3) << "the nodes of the other set stay sure";
}

TEST(NewerVersions, TheFileFormatAndContributedOperatorsToo) {
  const GraphCost cost = cost_with({{"", 17}, {"com.microsoft", 2}}, 14);
  ASSERT_EQ(cost.newer.size(), 2U);
  EXPECT_EQ(cost.newer[0].what, "IR");
  EXPECT_EQ(cost.newer[0].nodes, 4);
  EXPECT_EQ(cost.newer[1].what, "com.microsoft");
  EXPECT_EQ(cost.newer[1].nodes, 1);
  EXPECT_LT(cost.confidence, 1 - 0.17);
}

TEST(NewerVersions, UnusedOperatorSetIsIgnored) {
  EXPECT_TRUE(cost_with({{"", 17}, {"com.microsoft", 1}, {"ai.onnx.ml", 9}, {"my.own", 99}}).newer.empty());
}

TEST(NewerVersions, AbsurdNumbersStayInBounds) {
  const GraphCost cost = cost_with({{"", INT64_MAX}}, INT64_MAX);
  EXPECT_GE(cost.confidence, 0);
  EXPECT_LT(cost.confidence, 1e-6);
  EXPECT_TRUE(cost_with({{"", -5}}, -1).newer.empty());
}

}  // namespace
}  // namespace aaco::graph
