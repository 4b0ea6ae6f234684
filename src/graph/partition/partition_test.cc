#include "graph/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::graph {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

struct Builder {
  TensorId tensor(const std::string& name) { return graph.add_tensor({name, ElementType::float32, Shape{250}}); }
  TensorId input() {
    graph.inputs.push_back(tensor("x" + std::to_string(graph.inputs.size())));
    return graph.inputs.back();
  }
  TensorId node(const std::string& op, std::vector<TensorId> inputs) {
    const TensorId out = tensor(op + std::to_string(graph.nodes.size()));
    graph.nodes.push_back({op, op, "", std::move(inputs), {out}, {}});
    return out;
  }
  Graph graph;
};

std::vector<Target> device_without(const std::string& op) {
  return {{"gpu", [op](const Graph&, const Node& node) { return node.op_type == op ? "no kernel" : ""; }}, {"cpu", nullptr}};
}

TEST(Partition, SupportedGraphIsOnePart) {
  Builder b;
  b.node("Relu", {b.node("Exp", {b.input()})});
  const Partition out = partition(b.graph, device_without("TopK"));
  ASSERT_THAT(out.parts, SizeIs(1));
  EXPECT_THAT(out.transfers, SizeIs(0));
  EXPECT_THAT(out.refusals, SizeIs(0));
}
TEST(Partition, UnsupportedNodeSplitsGraphInThree) {
  Builder b;
  b.node("Relu", {b.node("NonZero", {b.node("Exp", {b.input()})})});
  const Partition out = partition(b.graph, device_without("NonZero"));
  EXPECT_THAT(out.target_of, ElementsAre(0, 1, 0));
  EXPECT_THAT(out.parts, SizeIs(3));
  EXPECT_THAT(out.transfers, SizeIs(2));
  EXPECT_EQ(out.transfer_bytes, 2000);
  ASSERT_THAT(out.refusals, SizeIs(1));
  EXPECT_EQ(out.refusals[0].op_type, "NonZero");
  EXPECT_EQ(out.refusals[0].reason, "no kernel");
}
TEST(Partition, PartsAreNotReentered) {
  // exp -> nonzero -> add, exp -> add: exp and add must not be one part.
  Builder b;
  const TensorId exp = b.node("Exp", {b.input()});
  b.node("Add", {exp, b.node("NonZero", {exp})});
  const Partition out = partition(b.graph, device_without("NonZero"));
  EXPECT_THAT(out.parts, SizeIs(3));
}
TEST(Partition, BranchesSideBySideAreOnePart) {
  Builder b;
  const TensorId x = b.node("Exp", {b.input()});
  b.node("Add", {b.node("Relu", {x}), b.node("Neg", {x})});
  EXPECT_THAT(partition(b.graph, device_without("NonZero")).parts, SizeIs(1));
}
TEST(Partition, ATensorIsCopiedOnceForAllItsReaders) {
  Builder b;
  const TensorId x = b.node("NonZero", {b.input()});
  b.node("Relu", {x});
  b.node("Neg", {x});
  EXPECT_THAT(partition(b.graph, device_without("NonZero")).transfers, SizeIs(1));
}
TEST(Partition, ViewsFollowWhatTheyView) {
  Builder b;
  b.node("Relu", {b.node("Reshape", {b.node("NonZero", {b.input()})})});
  EXPECT_THAT(partition(b.graph, device_without("NonZero")).target_of, ElementsAre(1, 1, 0));
}
TEST(Partition, UnsupportedNodesGoToLastTarget) {
  Builder b;
  b.node("Odd", {b.input()});
  const auto never = [](const Graph&, const Node&) { return std::string("no"); };
  const Partition out = partition(b.graph, {{"a", never}, {"b", never}});
  EXPECT_THAT(out.target_of, ElementsAre(1));
  EXPECT_THAT(out.refusals, SizeIs(2));
}
TEST(Partition, AnEmptyGraphHasNoParts) { EXPECT_THAT(partition(Graph(), device_without("x")).parts, SizeIs(0)); }

TEST(Schedule, AChainHasNoParallelism) {
  Builder b;
  b.node("Relu", {b.node("Exp", {b.input()})});
  const Schedule out = schedule(b.graph, {2, 3});
  EXPECT_EQ(out.critical, 5);
  EXPECT_EQ(out.parallelism, 1);
  EXPECT_THAT(out.path, ElementsAre(0, 1));
  EXPECT_EQ(out.widest, 1U);
}
TEST(Schedule, TheLongerBranchDecides) {
  Builder b;
  const TensorId x = b.node("Exp", {b.input()});
  b.node("Add", {b.node("Relu", {x}), b.node("Neg", {x})});
  const Schedule out = schedule(b.graph, {1, 2, 7, 1});
  EXPECT_EQ(out.critical, 9);
  EXPECT_THAT(out.path, ElementsAre(0, 2, 3));
  EXPECT_EQ(out.work, 11);
  EXPECT_EQ(out.widest, 2U);
}
TEST(Schedule, IndependentNodesRunAtOnce) {
  Builder b;
  for (int number = 0; number < 4; ++number) b.node("Exp", {b.input()});
  EXPECT_EQ(schedule(b.graph, {1, 1, 1, 1}).parallelism, 4);
}
TEST(Schedule, MissingAndNegativeTimesCountAsZero) {
  Builder b;
  b.node("Relu", {b.node("Exp", {b.input()})});
  EXPECT_EQ(schedule(b.graph, {-1}).critical, 0);
  EXPECT_EQ(schedule(Graph(), {}).parallelism, 1);
}

}  // namespace
}  // namespace aaco::graph
