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

TEST(Branches, AKnownConditionSaysWhichOneCounts) {
  EXPECT_EQ(flops(true), 2.0 * kSide * kSide * kSide);
  EXPECT_EQ(flops(false), kSide * kSide);
}

TEST(Branches, WhatIsTakenForAnUnknownConditionIsSaidOnce) {
  Graph known = choice(true), unknown = choice({});
  unknown.nodes.push_back(unknown.nodes.front());
  unknown.nodes.back().name = "other";
  EXPECT_TRUE(infer_shapes(known).assumptions.empty());
  const ShapeReport report = infer_shapes(unknown);
  ASSERT_EQ(report.assumptions.size(), 1U);
  EXPECT_NE(report.assumptions.front().find("'choice' and 1 more"), std::string::npos) << report.assumptions.front();
}

TEST(Branches, ElseTheCostlierOneCounts) { EXPECT_EQ(flops({}), 2.0 * kSide * kSide * kSide); }

}  // namespace
}  // namespace aaco::graph
