#include "graph/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::graph {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Ids that pick rows of a table, and an output of so many columns.
struct Model {
  Graph graph;
  TensorId out;

  explicit Model(std::int64_t columns) {
    out = graph.add_tensor({"out", ElementType::float32, Shape{2, 16, columns}});
    graph.outputs = {out};
  }
  TensorId input(const char* name, Shape shape, ElementType type = ElementType::int64) {
    graph.inputs.push_back(graph.add_tensor({name, type, std::move(shape)}));
    return graph.inputs.back();
  }
  TensorId table(std::int64_t rows) {
    const TensorId id = graph.add_tensor({"table" + std::to_string(rows), ElementType::float32, Shape{rows, 64}});
    graph.initializers.push_back({id, {}});
    return id;
  }
  void node(const char* op_type, std::vector<TensorId> inputs, std::vector<Attribute> attributes = {}) {
    const TensorId made = graph.add_tensor({"t" + std::to_string(graph.tensors.size()), ElementType::unknown, {}});
    graph.nodes.push_back({"", op_type, "", std::move(inputs), {made}, std::move(attributes)});
  }
  [[nodiscard]] TensorId last() const { return graph.nodes.back().outputs[0]; }
};

TEST(Tokens, AreIdsByTheirName) {
  Model m(9);
  m.node("Gather", {m.table(1000), m.input("input_ids", {2, 16})});
  EXPECT_THAT(token_inputs(m.graph), ElementsAre(Tokens{"input_ids", {2, 16}, 1000, 32}));
}

TEST(Tokens, AreIdsWhoseTableHasARowForEachScore) {
  Model m(1000);
  m.node("Cast", {m.input("arg0", {2, 16})});
  m.node("Gather", {m.table(1000), m.last()});
  m.node("Gather", {m.table(2), m.input("arg1", {2, 16})});
  EXPECT_THAT(token_inputs(m.graph), ElementsAre(Tokens{"arg0", {2, 16}, 1000, 32}));
}

TEST(Tokens, OfATableThatIsStoredInANarrowerType) {
  Model m(1000);
  m.node("DequantizeLinear", {m.table(1000)});
  m.graph.tensor(m.last()).shape = Shape{1000, 64};
  m.node("embedding", {m.last(), m.input("arg0", {16}, ElementType::int32)});
  EXPECT_THAT(token_inputs(m.graph), ElementsAre(Tokens{"arg0", {16}, 1000, 16}));
}

TEST(Tokens, AreNotSegmentsWithAsManyKindsAsThereAreLabels) {
  Model m(2);
  m.node("Gather", {m.table(1000), m.input("words", {2, 16})});
  m.node("Gather", {m.table(2), m.input("token_type_ids", {2, 16})});
  EXPECT_THAT(token_inputs(m.graph), IsEmpty()) << "nothing says that words are tokens";
}

TEST(Tokens, OfAnEncoderAndADecoderAreTwoThings) {
  Model m(1000);
  m.node("Gather", {m.table(1000), m.input("input_ids", {2, 16})});
  m.node("Gather", {m.table(1000), m.input("decoder_input_ids", {2, 1})});
  EXPECT_THAT(token_inputs(m.graph), SizeIs(2));
}

TEST(Tokens, AreNotRecommendationIndices) {
  Model m(1);
  m.node("Gather", {m.table(100000), m.input("sparse_0", {2, 16})});
  EXPECT_THAT(token_inputs(m.graph), IsEmpty());
}

TEST(Tokens, AreNotNumbersOrUnusedIndices) {
  Model m(1000);
  m.node("Gather", {m.table(1000), m.input("input_ids", {2, 16}, ElementType::float32)});
  m.node("Gather", {m.table(1000), m.input("tokens", {2, 16, 4})});
  m.node("Add", {m.input("token_ids", {2, 16}), m.table(1000)});
  const TensorId axis_one = m.input("input_tokens", {2, 16});
  m.node("Gather", {m.table(1000), axis_one}, {{"axis", std::int64_t{1}}});
  m.node("Gather", {m.input("kept", {1000, 64}, ElementType::float32), axis_one});
  m.node("Gather", {});
  m.input("decoder_input_ids", {"batch", 16});
  m.node("Gather", {m.table(1000), m.graph.inputs.back()});
  EXPECT_THAT(token_inputs(m.graph), IsEmpty());
  EXPECT_THAT(token_inputs({}), IsEmpty());
}

}  // namespace
}  // namespace aaco::graph
