#include "graph/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::graph {
namespace {

Graph with_inputs(const std::vector<Shape>& shapes) {
  Graph graph;
  for (const Shape& shape : shapes) {
    const std::string name = "x" + std::to_string(graph.inputs.size());
    graph.inputs.push_back(graph.add_tensor({name, ElementType::float32, shape}));
  }
  return graph;
}

std::string refusal(const Graph& graph, std::int64_t batch, Bindings sizes = {}) {
  const auto status = bind_batch(graph, batch, sizes);
  return status ? "" : status.error().text();
}

Bindings bound(const Graph& graph, std::int64_t batch) {
  Bindings sizes;
  EXPECT_TRUE(bind_batch(graph, batch, sizes));
  return sizes;
}

TEST(Batch, IsTheNamedDimension) { EXPECT_EQ(batch_symbol(with_inputs({{"tokens", "Batch_size"}})), "Batch_size"); }
TEST(Batch, OtherwiseTheFirstSymbolicDimension) { EXPECT_EQ(batch_symbol(with_inputs({{3, "n"}, {"n", 4}})), "n"); }
TEST(Batch, UnnamedDimensionIsNamedByPosition) { EXPECT_EQ(batch_symbol(with_inputs({{Dimension(), 4}})), "x0#0"); }
TEST(Batch, SumIsNotABatchDimension) { EXPECT_EQ(batch_symbol(with_inputs({{"n", "batch + 1"}, {"batch", 1}})), "batch"); }
TEST(Batch, FixedInputsHaveNoBatchDimension) { EXPECT_EQ(batch_symbol(with_inputs({{1, 4}})), ""); }
TEST(Batch, IsBoundWithUnnamedFirstDimensions) {
  EXPECT_EQ(bound(with_inputs({{"batch", 4}, {Dimension(), 4}}), 8), (Bindings{{"batch", 8}, {"x1#0", 8}}));
}
TEST(Batch, AFixedOneMayBeAskedFor) { EXPECT_EQ(bound(with_inputs({{2, 4}}), 2), Bindings{}); }
TEST(Batch, RefusesDifferentFixedBatch) {
  EXPECT_THAT(refusal(with_inputs({{2, 4}}), 8), testing::HasSubstr("fixes the input 'x0' at [2, 4]"));
}
TEST(Batch, RefusesEmptyBatch) { EXPECT_THAT(refusal(with_inputs({{"n"}}), 0), testing::HasSubstr("invalid batch size")); }
TEST(Batch, RefusesContradictorySizes) {
  EXPECT_THAT(refusal(with_inputs({{"n"}}), 8, {{"n", 4}}), testing::HasSubstr("is 4 already"));
}

// An LSTM behind a cast; inputs are x and initial_h.
Graph recurrent(const Shape& x, const Shape& state, std::int64_t layout) {
  Graph graph = with_inputs({x, state});
  const TensorId cast = graph.add_tensor({"cast", ElementType::float32, {}}),
                 y = graph.add_tensor({"y", ElementType::float32, {}});
  const TensorId w = graph.add_tensor({"w", ElementType::float32, Shape{1, 256, 64}}), none;
  graph.initializers = {{w, {}}};
  graph.nodes = {{"cast", "Cast", "", {graph.inputs[0]}, {cast}, {}},
                 {"lstm", "LSTM", "", {cast, w, w, none, none, graph.inputs[1]}, {y}, {{"layout", layout}}}};
  graph.outputs = {y};
  return graph;
}

TEST(Batch, OfARecurrentOperatorIsBehindTime) {
  EXPECT_EQ(batch_symbol(recurrent({Dimension(), Dimension(), 64}, {1, Dimension(), 64}, 0)), "x0#1");
  EXPECT_EQ(batch_symbol(recurrent({Dimension(), Dimension(), 64}, {Dimension(), 1, 64}, 1)), "x0#0");
  EXPECT_EQ(bound(recurrent({20, Dimension(), 64}, {1, Dimension(), 64}, 0), 8), (Bindings{{"x0#1", 8}, {"x1#1", 8}}));
  EXPECT_EQ(bound(recurrent({20, 8, 64}, {1, 8, 64}, 0), 8), Bindings{}) << "fixed, and as it is";
  EXPECT_THAT(refusal(recurrent({20, 8, 64}, {1, 8, 64}, 0), 20), testing::HasSubstr("use a batch size of 8"));
}

TEST(Items, AreCountedByTheSymbolElseByTheFirstInput) {
  EXPECT_EQ(items_of(with_inputs({{128, 8}}), "batch", {{"batch", 8}}), (Items{8, "'batch'"}));
  EXPECT_EQ(items_of(with_inputs({{}, {8, 4}}), "", {}), (Items{8, "dimension 0 of 'x1'"}));
  EXPECT_EQ(items_of(recurrent({20, 8, 64}, {1, 8, 64}, 0), "", {}), (Items{8, "dimension 1 of 'x0'"}));
  EXPECT_EQ(items_of(recurrent({8, 20, 64}, {8, 1, 64}, 1), "", {}), (Items{8, "dimension 0 of 'x0'"}));
  EXPECT_EQ(items_of(with_inputs({}), "", {}), Items());
  EXPECT_EQ(items_of(with_inputs({{3, 4}}), "lost", {}).count, 3);
}

}  // namespace
}  // namespace aaco::graph
