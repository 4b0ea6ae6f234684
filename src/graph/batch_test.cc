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

TEST(Batch, IsTheDimensionCalledSo) { EXPECT_EQ(batch_symbol(with_inputs({{"tokens", "Batch_size"}})), "Batch_size"); }
TEST(Batch, ElseTheFirstOpenOne) { EXPECT_EQ(batch_symbol(with_inputs({{3, "n"}, {"n", 4}})), "n"); }
TEST(Batch, ADimensionWithoutANameIsCalledByItsPlace) { EXPECT_EQ(batch_symbol(with_inputs({{Dimension(), 4}})), "x0#0"); }
TEST(Batch, ASumIsNoBatch) { EXPECT_EQ(batch_symbol(with_inputs({{"n", "batch + 1"}, {"batch", 1}})), "batch"); }
TEST(Batch, FixedInputsHaveNone) { EXPECT_EQ(batch_symbol(with_inputs({{1, 4}})), ""); }
TEST(Batch, IsBoundWithUnnamedFirstDimensions) {
  EXPECT_EQ(bound(with_inputs({{"batch", 4}, {Dimension(), 4}}), 8), (Bindings{{"batch", 8}, {"x1#0", 8}}));
}
TEST(Batch, AFixedOneMayBeAskedFor) { EXPECT_EQ(bound(with_inputs({{2, 4}}), 2), Bindings{}); }
TEST(Batch, AnotherThanTheFixedOneIsRefused) {
  EXPECT_THAT(refusal(with_inputs({{2, 4}}), 8), testing::HasSubstr("fixed at [2, 4]"));
}
TEST(Batch, NoItemsAreRefused) { EXPECT_THAT(refusal(with_inputs({{"n"}}), 0), testing::HasSubstr("cannot run")); }
TEST(Batch, AContradictionIsRefused) {
  EXPECT_THAT(refusal(with_inputs({{"n"}}), 8, {{"n", 4}}), testing::HasSubstr("is 4 already"));
}
TEST(Batch, OfABoundGraphIsItsFirstDimension) { EXPECT_EQ(batch_of(with_inputs({{}, {8, 4}})), 8); }

}  // namespace
}  // namespace aaco::graph
