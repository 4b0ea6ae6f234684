#include <gtest/gtest.h>

#include "graph/cost.h"
#include "graph/shapes.h"

namespace aaco::graph {
namespace {

constexpr std::int64_t kSide = 64;

// One operator over what the graph around calls "x".
Graph body(const char* op, std::size_t operands) {
  Graph graph;
  const TensorId x = graph.add_tensor({"x", ElementType::unknown, {}}),
                 y = graph.add_tensor({"result", ElementType::unknown, {}});
  graph.captured = {x};
  graph.nodes = {{op, op, "", std::vector<TensorId>(operands, x), {y}, {}}};
  graph.outputs = {y};
  return graph;
}

// If: a product, else: nothing but zeros cut off. `condition`: its constant; empty: an input of the graph. The else branch's
// attribute stands first, as a file may have it.
Graph choice(std::optional<bool> condition) {
  Graph graph;
  graph.opsets[""] = 17;
  const TensorId x = graph.add_tensor({"x", ElementType::float32, Shape{kSide, kSide}});
  const TensorId c = graph.add_tensor({"c", ElementType::boolean, Shape{}});
  const TensorId y = graph.add_tensor({"y", ElementType::unknown, {}});
  graph.inputs = {x};
  if (condition)
    graph.initializers = {{c, {{std::byte{*condition ? std::uint8_t{1} : std::uint8_t{0}}}, {}}}};
  else
    graph.inputs.push_back(c);
  graph.outputs = {y};
  graph.subgraphs = {body("Relu", 1), body("MatMul", 2)};
  graph.nodes = {
      {"choice",
       "If",
       "",
       {c},
       {y},
       {{"else_branch", std::vector<SubgraphId>{SubgraphId{0}}}, {"then_branch", std::vector<SubgraphId>{SubgraphId{1}}}}}};
  return graph;
}

double flops(std::optional<bool> condition) {
  Graph graph = choice(condition);
  const ShapeReport report = infer_shapes(graph);
  EXPECT_TRUE(report.problems.empty()) << report.problems.front();
  return cost_of(graph).flops;
}

TEST(Branches, KnownConditionSelectsBranch) {
  EXPECT_EQ(flops(true), 2.0 * kSide * kSide * kSide);
  EXPECT_EQ(flops(false), kSide * kSide);
}

TEST(Branches, AssumedBranchIsReportedOnce) {
  Graph known = choice(true), unknown = choice({});
  unknown.nodes.push_back(unknown.nodes.front());
  unknown.nodes.back().name = "other";
  EXPECT_TRUE(infer_shapes(known).assumptions.empty());
  const ShapeReport report = infer_shapes(unknown);
  ASSERT_EQ(report.assumptions.size(), 1U);
  EXPECT_NE(report.assumptions.front().find("'choice' and 1 more"), std::string::npos) << report.assumptions.front();
}

TEST(Branches, OtherwiseCostlierBranchCounts) { EXPECT_EQ(flops({}), 2.0 * kSide * kSide * kSide); }

// A loop whose condition and body each are one operator over what the loop is given, as TFLite and PyTorch have them. `scanned`:
// the first input that the body takes a slice of.
Graph loop(std::optional<std::int64_t> scanned) {
  Graph graph;
  const TensorId x = graph.add_tensor({"x", ElementType::float32, Shape{5, kSide}}),
                 y = graph.add_tensor({"y", ElementType::float32, Shape{5, Dimension{}}});
  graph.inputs = {x};
  graph.outputs = {y};
  for (int number = 0; number < 2; ++number) {
    Graph inner;
    const Shape slice = scanned ? Shape{kSide} : Shape{5, Dimension{}};
    const TensorId a = inner.add_tensor({"a", ElementType::float32, slice}),
                   b = inner.add_tensor({"b", ElementType::float32, slice});
    inner.inputs = {a};
    inner.outputs = {b};
    inner.nodes = {{"relu", "RELU", "tflite", {a}, {b}, {}}};
    graph.subgraphs.push_back(inner);
  }
  Node node{"loop", "WHILE", "tflite", {x}, {y}, {{"bodies", std::vector<SubgraphId>{SubgraphId{0}, SubgraphId{1}}}}};
  if (scanned) node.attributes.push_back({"scanned", *scanned});
  graph.nodes = {node};
  return graph;
}
TEST(Loops, UnknownTripCountUsesDefault) {
  Graph graph = loop({});
  const ShapeReport report = infer_shapes(graph, {7});
  ASSERT_EQ(report.assumptions.size(), 1U);
  EXPECT_NE(report.assumptions[0].find("assumed to run 7 times: the trip count is not part of the model"), std::string::npos);
  EXPECT_EQ(cost_of(graph).flops, 7 * 2 * 5 * kSide);
  EXPECT_EQ(to_string(*graph.tensor(graph.outputs[0]).shape), "[5, 64]");
}
TEST(Loops, ScanRunsOncePerSlice) {
  Graph graph = loop(0);
  EXPECT_TRUE(infer_shapes(graph, {7}).assumptions.empty());
  EXPECT_EQ(cost_of(graph).flops, 5 * 2 * kSide);
}
TEST(Loops, EmptyScanIsUnknown) {
  Graph graph = loop(9);
  EXPECT_EQ(infer_shapes(graph, {7}).assumptions.size(), 1U);
}

}  // namespace
}  // namespace aaco::graph
