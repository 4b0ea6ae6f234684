#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analytics/compiler_drawing.h"

namespace aaco::analytics::compiler {
namespace {

using graph::Graph;
using graph::TensorId;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A chain of operators; each reads the result of the one before, and what `also` says.
Graph chain(const std::vector<std::string>& operators, const std::vector<std::pair<std::size_t, std::size_t>>& also = {}) {
  Graph graph;
  TensorId last = graph.add_tensor({"x", graph::ElementType::float32, graph::Shape{4}});
  graph.inputs.push_back(last);
  std::vector<TensorId> made;
  for (const std::string& op : operators) {
    const std::string name = "t" + std::to_string(made.size());
    std::vector<TensorId> inputs{last};
    for (const auto& [reader, source] : also)
      if (reader == made.size()) inputs.push_back(made[source]);
    last = graph.add_tensor({name, graph::ElementType::float32, graph::Shape{4}});
    graph.nodes.push_back({"n_" + name, op, "", inputs, {last}, {}});
    made.push_back(last);
  }
  graph.outputs.push_back(last);
  return graph;
}

std::vector<DrawnBlock> drawn(const Graph& graph) { return draw_folded(graph, graph, compare_graphs(graph, graph)); }

TEST(FoldRepeats, NoWordsYieldNoStretches) { EXPECT_THAT(fold_repeats({}), IsEmpty()); }
TEST(FoldRepeats, DifferentWordsAreOneStretch) { EXPECT_THAT(fold_repeats({"a", "b", "c"}), ElementsAre(Stretch{0, 3, 1})); }
TEST(FoldRepeats, EqualWordsAreCounted) { EXPECT_THAT(fold_repeats({"a", "a", "a"}), ElementsAre(Stretch{0, 1, 3})); }
TEST(FoldRepeats, TheLongerRepetitionWins) {
  EXPECT_THAT(fold_repeats({"a", "a", "b", "a", "a", "b"}), ElementsAre(Stretch{0, 3, 2}));
}
TEST(FoldRepeats, NeighboursOfARepetitionAreKept) {
  EXPECT_THAT(fold_repeats({"s", "a", "b", "a", "b", "e"}), ElementsAre(Stretch{0, 1, 1}, Stretch{1, 2, 2}, Stretch{5, 1, 1}));
}
TEST(FoldRepeats, AnIncompleteRepetitionIsNotFolded) {
  EXPECT_THAT(fold_repeats({"a", "b", "a"}), ElementsAre(Stretch{0, 3, 1}));
}
TEST(FoldRepeats, APeriodBeyondTheLimitIsNotSought) {
  std::vector<std::string> words;
  for (int pass = 0; pass < 2; ++pass)
    for (std::size_t i = 0; i <= kMaxPeriod; ++i) words.push_back(std::to_string(i));
  EXPECT_THAT(fold_repeats(words), ElementsAre(Stretch{0, words.size(), 1}));
}

TEST(DrawFolded, AnEmptyGraphHasNoBlocks) { EXPECT_THAT(drawn({}), IsEmpty()); }
TEST(DrawFolded, LayersAreOneBlock) {
  const auto blocks = drawn(chain({"Neg", "Conv", "Relu", "Conv", "Relu", "Conv", "Relu"}));
  ASSERT_THAT(blocks, SizeIs(2));
  EXPECT_EQ(blocks[1].repeats, 3U);
  ASSERT_THAT(blocks[1].rows, SizeIs(2));
  EXPECT_THAT(blocks[1].rows[0].kernels, ElementsAre(1, 3, 5));
  EXPECT_THAT(blocks[1].rows[0].nodes, ElementsAre(1));
}
TEST(DrawFolded, RowsReadTheOnesBefore) {
  const auto blocks = drawn(chain({"Conv", "Relu", "Add"}, {{2, 0}}));
  ASSERT_THAT(blocks, SizeIs(1));
  EXPECT_THAT(blocks[0].rows[0].from, IsEmpty());
  EXPECT_THAT(blocks[0].rows[1].from, ElementsAre(0));
  EXPECT_THAT(blocks[0].rows[2].from, ElementsAre(0, 1));
}
TEST(DrawFolded, ARepetitionDoesNotReadItself) {
  for (const DrawnBlock& block : drawn(chain({"Neg", "Conv", "Relu", "Conv", "Relu"})))
    if (block.repeats > 1) {
      EXPECT_THAT(block.rows[0].from, ElementsAre(0));
    }
}
TEST(DrawFolded, NodesOfOneKernelShareARow) {
  const Graph before = chain({"Conv", "Relu"});
  Graph after = chain({"FusedConv"});
  after.tensors.back().name = "t1";
  const auto blocks = draw_folded(before, after, compare_graphs(before, after));
  ASSERT_THAT(blocks, SizeIs(1));
  ASSERT_THAT(blocks[0].rows, SizeIs(1));
  EXPECT_THAT(blocks[0].rows[0].nodes, ElementsAre(0, 1));
  EXPECT_EQ(blocks[0].rows[0].fate, Fate::fused);
}
TEST(DrawFolded, RemovedNodesHaveNoKernel) {
  const Graph before = chain({"Conv", "Identity", "Dropout", "Relu"});
  Graph after = chain({"Conv", "Relu"});
  after.tensors.back().name = "t3";
  after.nodes.back().name = "n_t3";
  const auto blocks = draw_folded(before, after, compare_graphs(before, after));
  ASSERT_THAT(blocks, SizeIs(1));
  ASSERT_THAT(blocks[0].rows, SizeIs(3));
  EXPECT_THAT(blocks[0].rows[1].nodes, ElementsAre(1, 2));
  EXPECT_THAT(blocks[0].rows[1].kernels, IsEmpty());
  EXPECT_EQ(blocks[0].rows[1].fate, Fate::removed);
}
TEST(DrawFolded, AnInsertedKernelFollowsWhatItReads) {
  const Graph before = chain({"Conv", "Neg"});
  const Graph after = chain({"Conv", "ReorderOutput", "Neg"});
  Graph renamed = after;
  renamed.tensors[1].name = "t0_nchwc";
  renamed.tensors[2].name = "t0";
  renamed.tensors[3].name = "t1";
  const auto blocks = draw_folded(before, renamed, compare_graphs(before, renamed));
  ASSERT_THAT(blocks, SizeIs(1));
  ASSERT_THAT(blocks[0].rows, SizeIs(3));
  EXPECT_THAT(blocks[0].rows[1].nodes, IsEmpty());
  EXPECT_THAT(blocks[0].rows[1].kernels, ElementsAre(1));
}

}  // namespace
}  // namespace aaco::analytics::compiler
