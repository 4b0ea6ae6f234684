#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/load.h"

// Lengths of sequences that nobody gave.
namespace aaco::graph {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// x of [batch, sequence, 8] plus a table of so many positions.
Graph with_positions(std::int64_t rows) {
  Graph graph;
  const TensorId x = graph.add_tensor({"x", ElementType::float32, Shape{"batch", "sequence", 8}});
  const TensorId table = graph.add_tensor({"positions", ElementType::float32, Shape{1, rows, 8}});
  const TensorId out = graph.add_tensor({"y", ElementType::float32, {}});
  graph.inputs = {x};
  graph.outputs = {out};
  graph.initializers.push_back({table, {}});
  graph.nodes.push_back({"sum", "Add", "", {x, table}, {out}, {}});
  graph.opsets[""] = 17;
  return graph;
}

TEST(Lengths, AnAssumedOneFitsTheModelsTable) {
  const auto model = prepare(with_positions(64));
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_THAT(model->shapes.problems, IsEmpty());
  EXPECT_EQ(model->dimensions.sizes.at("sequence"), 64);
  EXPECT_THAT(model->dimensions.assumptions, Contains(HasSubstr("assumed 64 (the longest that the model's tables hold)")));
}
TEST(Lengths, TheUsualOneIsTakenWhereItFits) {
  const auto model = prepare(with_positions(128));
  ASSERT_TRUE(model);
  EXPECT_EQ(model->dimensions.sizes.at("sequence"), 128);
  EXPECT_THAT(model->dimensions.assumptions, Not(Contains(HasSubstr("tables"))));
}
TEST(Lengths, AGivenOneIsNotChanged) {
  const auto model = prepare(with_positions(64), {{"sequence", 100}});
  ASSERT_TRUE(model);
  EXPECT_EQ(model->dimensions.sizes.at("sequence"), 100);
  EXPECT_THAT(model->shapes.problems, Not(IsEmpty()));
}
TEST(Lengths, AModelThatFitsNoneKeepsTheUsualOneAndItsProblem) {
  const auto model = prepare(with_positions(200));
  ASSERT_TRUE(model);
  EXPECT_EQ(model->dimensions.sizes.at("sequence"), 128);
  EXPECT_THAT(model->shapes.problems, Not(IsEmpty()));
}

}  // namespace
}  // namespace aaco::graph
