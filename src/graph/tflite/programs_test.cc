#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/tflite_writer.h"

namespace aaco::graph::tflite {
namespace {

using testing::HasSubstr;

Flat signature(const std::string& key, std::int64_t graph) { return table({{2, text(key)}, {4, number(graph)}}); }

// x -> RELU -> y [4] as "prefill", and [8] as "decode".
ModelFile two_signatures() {
  ModelFile model;
  model.code(19);
  model.tensors = {tensor("x", {4}), tensor("y", {4})};
  model.operators = {node(0, {0}, {1})};
  model.outputs = {1};
  model.further = {table({{0, tables({tensor("a", {8}), tensor("b", {8})})},
                          {1, numbers({0})},
                          {2, numbers({1})},
                          {3, tables({node(0, {0}, {1})})}})};
  model.signatures = {signature("prefill", 0), signature("decode", 1)};
  return model;
}

TEST(TfliteSignatures, FirstGraphIsUsedAndOthersAreListed) {
  const Source source = parse(two_signatures().bytes(), "x").value();
  EXPECT_EQ(to_string(*source.graph.tensor(source.graph.inputs[0]).shape), "[4]");
  ASSERT_EQ(source.assumptions.size(), 1U);
  EXPECT_THAT(source.assumptions[0], HasSubstr("(prefill, decode): 'prefill' was used"));
}
TEST(TfliteSignatures, SelectsByName) {
  const Source source = parse(two_signatures().bytes(), "x", "decode").value();
  EXPECT_EQ(to_string(*source.graph.tensor(source.graph.inputs[0]).shape), "[8]");
  EXPECT_TRUE(source.assumptions.empty());
}
TEST(TfliteSignatures, AliasesOfOneGraphAreNotAmbiguous) {
  ModelFile model = two_signatures();
  model.signatures = {signature("serve", 0), signature("again", 0)};
  EXPECT_TRUE(parse(model.bytes(), "x").value().assumptions.empty());
}
TEST(TfliteSignatures, UnknownSignatureListsAvailableOnes) {
  EXPECT_THAT(parse(two_signatures().bytes(), "x", "train").error().text(), HasSubstr("its signatures: prefill, decode"));
  ModelFile plain = two_signatures();
  plain.signatures.clear();
  EXPECT_THAT(parse(plain.bytes(), "x", "train").error().text(), HasSubstr("it has no signatures"));
}
TEST(TfliteSignatures, RejectsSignatureOfMissingGraph) {
  ModelFile model = two_signatures();
  model.signatures = {signature("far", 9)};
  EXPECT_THAT(parse(model.bytes(), "x", "far").error().text(), HasSubstr("graph 9"));
}

// x -> y, both with what the file writes and the open sizes' -1.
Graph open_graph(Flat x, Flat y) {
  ModelFile model;
  model.code(19);
  model.tensors = {std::move(x), std::move(y)};
  model.operators = {node(0, {0}, {1})};
  model.outputs = {1};
  return model.parse().value();
}
std::string output_shape(const Graph& graph) { return to_string(*graph.tensor(graph.outputs[0]).shape); }

TEST(TfliteOpenSizes, AMultipleOfTheBatchIsOne) {
  const Graph graph = open_graph(tensor("x", {1, 12, 64}, 0, 0, {-1, 12, 64}), tensor("y", {12, 64}, 0, 0, {-1, 64}));
  EXPECT_EQ(output_shape(graph), "[12*batch, 64]");
}
TEST(TfliteOpenSizes, TheBatchMayComeLater) {
  const Graph graph = open_graph(tensor("x", {1, 12}, 0, 0, {-1, 12}), tensor("y", {12, 1}, 0, 0, {12, -1}));
  EXPECT_EQ(output_shape(graph), "[12, batch]");
}
TEST(TfliteOpenSizes, SizesUnrelatedToBatchAreNotAssumed) {
  const Graph graph = open_graph(tensor("x", {1, 1, 64}, 0, 0, {-1, -1, 64}), tensor("y", {1, 64}, 0, 0, {-1, 64}));
  EXPECT_EQ(to_string(*graph.tensor(graph.inputs[0]).shape), "[batch, ?, 64]");
  EXPECT_EQ(output_shape(graph), "[?, 64]");
}
TEST(TfliteOpenSizes, AnImageHasAHeightAndAWidth) {
  const Graph graph = open_graph(tensor("x", {1, 1, 1, 3}, 0, 0, {1, -1, -1, 3}), tensor("y", {1, 1}));
  EXPECT_EQ(to_string(*graph.tensor(graph.inputs[0]).shape), "[1, height, width, 3]");
}

// Graph 1: a [4] -> RELU -> b, twice.
Flat twice() {
  return table({{0, tables({tensor("x", {4}), tensor("h", {4}), tensor("y", {4})})},
                {1, numbers({0})},
                {2, numbers({2})},
                {3, tables({node(1, {0}, {1}), node(1, {1}, {2})})},
                {4, text("body")}});
}
// An operator over x that runs graph 1, whose number stands in field `field` of its options.
ModelFile running(std::int64_t code, int field, const std::vector<std::int64_t>& inputs = {0}) {
  ModelFile model;
  model.code(code);
  model.code(19);
  model.tensors = {tensor("x", {4}), tensor("y", {4})};
  Flat call = node(0, inputs, {1});
  call.fields.emplace_back(field == 0 ? 4 : 12, table({{field, number(1)}}));
  model.operators = {call};
  model.outputs = {1};
  model.further = {twice()};
  return model;
}

TEST(TfliteBodies, CalledGraphIsInlined) {
  for (const auto& [code, field] : {std::pair(31, 0), std::pair(206, 1)}) {
    const auto graph = running(code, field).parse();
    ASSERT_TRUE(graph) << graph.error().text();
    ASSERT_EQ(graph->nodes.size(), 2U);
    EXPECT_EQ(graph->nodes[0].inputs[0], graph->inputs[0]);
    EXPECT_EQ(graph->nodes[1].outputs[0], graph->outputs[0]);
    EXPECT_EQ(graph->tensor(graph->nodes[0].outputs[0]).name, "body/h");
  }
}
TEST(TfliteBodies, RefusesBodyWithTooManyInputs) {
  EXPECT_THAT(running(31, 0, {}).refusal(), HasSubstr("does not match the graph it runs"));
}
TEST(TfliteBodies, BranchesKeepWhatTheyReadAlive) {
  ModelFile model = running(118, 0);
  model.tensors = {tensor("c", {}, 0, 6), tensor("x", {4}), tensor("h", {4}), tensor("y", {4})};
  model.inputs = {0, 1};
  model.operators = {node(1, {1}, {2}), node(0, {0, 2}, {3}, {{0, number(1)}, {1, number(1)}})};
  model.outputs = {3};
  const auto graph = model.parse();
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_EQ(graph->subgraphs.size(), 2U);
  for (const Graph& body : graph->subgraphs) {
    ASSERT_EQ(body.captured.size(), 1U);
    EXPECT_EQ(body.tensor(body.captured[0]).name, "h");
    EXPECT_TRUE(body.inputs.empty());
  }
  model.operators[1] = node(0, {0}, {3}, {{0, number(1)}, {1, number(1)}});
  EXPECT_THAT(model.refusal(), HasSubstr("does not match"));
}
TEST(TfliteBodies, ALoopHasItsConditionAndItsBody) {
  ModelFile model = running(119, 0);
  model.operators = {node(0, {0}, {1}, {{0, number(1)}, {1, number(2)}})};
  model.further = {twice(), twice()};
  const auto graph = model.parse();
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->subgraphs.size(), 2U);
  const auto* bodies = std::get_if<std::vector<SubgraphId>>(graph->nodes[0].attribute("bodies"));
  ASSERT_NE(bodies, nullptr);
  EXPECT_EQ(bodies->size(), 2U);
  model.operators = {node(0, {}, {1}, {{0, number(1)}, {1, number(2)}})};
  EXPECT_THAT(model.refusal(), HasSubstr("does not match"));
}

// A custom operator of unknown results; the file says of the first that it has no dimension.
TEST(TfliteShapesOfFiles, CustomOperatorOutputsMayBeUnknown) {
  ModelFile model;
  model.codes.push_back(table({{0, number(32, 1)}, {1, text("TFLite_Detection_PostProcess")}, {3, number(32)}}));
  Flat scalar = tensor("scalar", {});
  scalar.fields.emplace_back(8, number(1, 1));
  model.tensors = {tensor("x", {4}), scalar, tensor("open", {})};
  model.operators = {node(0, {0}, {1, 2})};
  model.outputs = {1, 2};
  const Graph graph = model.parse().value();
  EXPECT_EQ(to_string(graph.tensor(graph.outputs[0]).shape.value()), "[]");
  EXPECT_FALSE(graph.tensor(graph.outputs[1]).shape);
}
// Two weights in one buffer, the second of `shape`; answers how many elements all constants have.
std::int64_t constants_of(std::vector<std::int64_t> shape) {
  ModelFile model;
  model.code(9);
  model.buffers.push_back(table({{0, text(std::string(64, '\1'))}}));
  model.tensors = {tensor("x", {1, 4}), tensor("a", {4, 4}, 1), tensor("b", std::move(shape), 1), tensor("h", {1, 4}),
                   tensor("y", {1, 4})};
  model.operators = {node(0, {0, 1, -1}, {3}), node(0, {3, 2, -1}, {4})};
  model.outputs = {4};
  return total_constants(model.parse().value()).elements;
}
TEST(TfliteShapesOfFiles, WeightsSharingABufferCountOnce) {
  EXPECT_EQ(constants_of({4, 4}), 16);
  EXPECT_EQ(constants_of({16}), 32);  // another tensor over the same bytes
}
TEST(TfliteShapesOfFiles, TheSmallestTypesAreKnown) {
  ModelFile model;
  model.code(9);
  model.buffers.push_back(table({{0, text(std::string(4, '\1'))}}));
  model.tensors = {tensor("x", {1, 4}), tensor("w", {4, 4}, 1, 19), tensor("y", {1, 4})};
  model.operators = {node(0, {0, 1, -1}, {2})};
  model.outputs = {2};
  EXPECT_EQ(model.parse().value().tensors[1].type, ElementType::int2);
}

}  // namespace
}  // namespace aaco::graph::tflite
