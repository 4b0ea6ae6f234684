#include "graph/rewrite/edit.h"

#include <gtest/gtest.h>

namespace aaco::graph::rewrite {
namespace {

TEST(Edit, NodesWithTheSameNameAreNamedApart) {
  Graph graph;
  const TensorId x = graph.add_tensor({"x", ElementType::float32, Shape{4}}),
                 y = graph.add_tensor({"y", ElementType::float32, Shape{4}});
  graph.inputs = {x}, graph.outputs = {y};
  graph.nodes = {{"a", "Relu", "", {x}, {y}, {}}};
  Edit edit(graph);
  const TensorId between = edit.add_tensor("x", ElementType::float32);
  EXPECT_EQ(graph.tensor(between).name, "x_2");
  edit.replace(0, {{"a/int8", "Neg", "", {x}, {between}, {}}, {"a/int8", "Neg", "", {between}, {y}, {}}});
  edit.finish();
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[0].name, "a/int8");
  EXPECT_EQ(graph.nodes[1].name, "a/int8_2");
}

}  // namespace
}  // namespace aaco::graph::rewrite
