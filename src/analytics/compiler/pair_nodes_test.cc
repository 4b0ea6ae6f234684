#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analytics/compiler_diff.h"

namespace aaco::analytics::compiler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Pairs = std::vector<std::optional<std::size_t>>;
constexpr auto kNone = std::nullopt;

Pairs paired(const std::vector<NamedNode>& here, const std::vector<NamedNode>& there) { return pair_nodes(here, there).node; }

TEST(PairNodes, NamesComeFirst) {
  EXPECT_EQ(paired({{"a", "Conv", ""}, {"b", "Relu", ""}}, {{"b", "Tanh", ""}, {"a", "Conv", ""}}), (Pairs{1, 0}));
}
TEST(PairNodes, NumberedNodesAreFoundByTheirPlace) {
  EXPECT_EQ(paired({{"Conv 0", "Conv", ""}, {"Relu 1", "Relu", ""}},
                   {{"Neg 0", "Neg", ""}, {"Conv 1", "Conv", ""}, {"Relu 2", "Relu", ""}}),
            (Pairs{1, 2}));
}
TEST(PairNodes, ARenamedNodeIsFoundBetweenItsNeighbours) {
  EXPECT_EQ(paired({{"a", "Conv", ""}, {"old", "Relu", ""}, {"c", "Conv", ""}},
                   {{"a", "Conv", ""}, {"new", "Relu", ""}, {"c", "Conv", ""}}),
            (Pairs{0, 1, 2}));
}
TEST(PairNodes, OneThatTheOtherLacksHasNone) {
  EXPECT_EQ(paired({{"a", "Conv", ""}, {"b", "Relu", ""}}, {{"a", "Conv", ""}}), (Pairs{0, kNone}));
  EXPECT_THAT(paired({}, {{"a", "Conv", ""}}), IsEmpty());
}
TEST(PairNodes, BodiesAreApart) {
  EXPECT_EQ(paired({{"a", "Conv", "then"}, {"a", "Conv", "else"}}, {{"a", "Conv", "else"}}), (Pairs{kNone, 0}));
}
TEST(PairNodes, EqualNamesAreTakenInOrder) {
  EXPECT_EQ(paired({{"a", "Conv", ""}, {"a", "Conv", ""}}, {{"a", "Conv", ""}, {"a", "Conv", ""}}), (Pairs{0, 1}));
}

TEST(PairNodes, SaysWhereTooManyNodesHaveNoName) {
  std::vector<NamedNode> here, there;
  for (std::size_t i = 0; i < 7'100; ++i) {
    here.push_back({"Relu " + std::to_string(i), "Relu", ""});
    there.push_back({"Tanh " + std::to_string(i), "Tanh", ""});
  }
  EXPECT_FALSE(pair_nodes(here, there).by_place);
  there.resize(100);
  EXPECT_TRUE(pair_nodes(here, there).by_place);
}

// x -> conv -> n_b -> n_r.
graph::Graph chain() {
  graph::Graph graph;
  const auto tensor = [&](const char* name) { return graph.add_tensor({name, graph::ElementType::float32, graph::Shape{4}}); };
  const auto x = tensor("x"), c = tensor("c"), b = tensor("b"), r = tensor("r");
  graph.inputs = {x};
  graph.nodes = {
      {"n_c", "Conv", "", {x}, {c}, {}}, {"n_b", "BatchNormalization", "", {c}, {b}, {}}, {"n_r", "Relu", "", {b}, {r}, {}}};
  return graph;
}
std::vector<std::size_t> origin(std::string_view name, std::string_view op_type) {
  const graph::Graph graph = chain();
  return KernelOrigins(graph).nodes(name, op_type);
}
TEST(KernelOrigins, NamesThatTheRuntimeAddedTo) {
  EXPECT_THAT(origin("n_c", "Conv"), ElementsAre(0));
  EXPECT_THAT(origin("n_c_token_12", "Conv"), ElementsAre(0));
  EXPECT_THAT(origin("n_c/MatMulAddFusion", "Gemm"), ElementsAre(0));
}
TEST(KernelOrigins, AKernelInTheBlockedLayoutIsNamedAfterItsResult) {
  EXPECT_THAT(origin("c_nchwc", "Conv"), ElementsAre(0));
  EXPECT_THAT(origin("r_nchwc", "Conv"), ElementsAre(0, 1, 2));
  EXPECT_THAT(origin("b_bn_nchwc", "Conv"), ElementsAre(1));
  EXPECT_THAT(origin("r_nchwc", "MaxPool"), ElementsAre(2));
  EXPECT_THAT(origin("n_b_nchwc", "Conv"), ElementsAre(0, 1));
}
TEST(KernelOrigins, AnotherNameHasNone) {
  for (const char* name : {"", "other", "other_nchwc", "_nchwc", "n_"}) EXPECT_THAT(origin(name, "Conv"), IsEmpty()) << name;
}

}  // namespace
}  // namespace aaco::analytics::compiler
