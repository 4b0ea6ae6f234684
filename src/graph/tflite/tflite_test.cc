#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/tflite_writer.h"

namespace aaco::graph::tflite {
namespace {

using testing::HasSubstr;

// x [batch, 8, 8, 3] -> CONV_2D, 4 filters of 3 x 3, stride 2 -> RELU.
ModelFile convolution() {
  ModelFile model;
  model.code(3);
  model.code(19);
  model.buffers.push_back(table({{0, text(std::string(4 * 3 * 3 * 3 * 4, '\1'))}}));
  model.tensors = {tensor("x", {1, 8, 8, 3}, 0, 0, {-1, 8, 8, 3}), tensor("w", {4, 3, 3, 3}, 1),
                   tensor("h", {1, 4, 4, 4}, 0, 0, {-1, 4, 4, 4}), tensor("y", {1, 4, 4, 4}, 0, 0, {-1, 4, 4, 4})};
  model.operators = {node(0, {0, 1, -1}, {2}, {{0, number(0, 1)}, {1, number(2)}, {2, number(2)}}), node(1, {2}, {3})};
  model.outputs = {3};
  return model;
}

TEST(Tflite, OperatorsHaveTheirNamesAndOptions) {
  const auto graph = convolution().parse();
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_EQ(graph->nodes.size(), 2U);
  EXPECT_EQ(graph->nodes[0].op_type, "CONV_2D");
  EXPECT_EQ(graph->nodes[0].ints_or("strides", {}), (std::vector<std::int64_t>{2, 2}));
  EXPECT_FALSE(graph->nodes[0].inputs[2].valid());
  EXPECT_EQ(graph->nodes[1].op_type, "RELU");
  EXPECT_EQ(graph->producer, "by hand");
  EXPECT_EQ(graph->name, "main");
}
TEST(Tflite, AnOpenBatchIsASymbol) {
  const Graph graph = convolution().parse().value();
  EXPECT_EQ(to_string(*graph.tensor(graph.inputs[0]).shape), "[batch, 8, 8, 3]");
  EXPECT_EQ(to_string(*graph.tensor(graph.outputs[0]).shape), "[batch, 4, 4, 4]");
}
TEST(Tflite, ConstantsAreWeightsWithFileLocations) {
  const std::string bytes = convolution().bytes();
  const Graph graph = parse(bytes, "test.tflite").value().graph;
  ASSERT_EQ(graph.initializers.size(), 1U);
  const Constant& constant = graph.initializers[0].constant;
  ASSERT_TRUE(constant.location);
  EXPECT_EQ(constant.location->bytes, 432);
  EXPECT_EQ(bytes[static_cast<std::size_t>(constant.location->offset)], '\1');
  EXPECT_EQ(graph.inputs.size(), 1U);
}
TEST(Tflite, CodesAbove127UseSeparateField) {
  ModelFile model;
  model.code(150);
  model.tensors = {tensor("x", {4}), tensor("y", {4})};
  model.operators = {node(0, {0}, {1})};
  model.outputs = {1};
  EXPECT_EQ(model.parse()->nodes[0].op_type, "GELU");
}
TEST(Tflite, CustomOperatorsKeepTheirNames) {
  ModelFile model;
  model.codes.push_back(table({{0, number(32, 1)}, {1, text("MyOp")}, {3, number(32)}}));
  model.tensors = {tensor("x", {4}), tensor("y", {4})};
  model.operators = {node(0, {0}, {1})};
  model.outputs = {1};
  EXPECT_EQ(model.parse()->nodes[0].op_type, "custom:MyOp");
}
TEST(Tflite, BranchesAreConditions) {
  ModelFile model;
  model.code(118);
  model.code(19);
  model.tensors = {tensor("c", {}, 0, 6), tensor("x", {4}), tensor("y", {4})};
  model.inputs = {0, 1};
  model.operators = {node(0, {0, 1}, {2}, {{0, number(1)}, {1, number(1)}})};
  model.outputs = {2};
  model.further = {table({{0, tables({tensor("a", {4}), tensor("b", {4})})},
                          {1, numbers({0})},
                          {2, numbers({1})},
                          {3, tables({node(1, {0}, {1})})}})};
  const auto graph = model.parse();
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->nodes[0].op_type, "If");
  EXPECT_EQ(graph->subgraphs.size(), 2U);
}

TEST(Tflite, TensorsWithTheSameNameAreDistinguished) {
  ModelFile model = convolution();
  for (Flat& item : model.tensors) item.fields[3].second = text("same");
  const Graph graph = model.parse().value();
  EXPECT_EQ(graph.tensor(graph.inputs[0]).name, "same");
  EXPECT_THAT(graph.tensor(graph.outputs[0]).name, HasSubstr("same#"));
}

TEST(TfliteRefuses, MissingBuffer) {
  ModelFile model = convolution();
  model.tensors[1] = tensor("w", {4, 3, 3, 3}, 44);
  EXPECT_THAT(model.refusal(), HasSubstr("'w' refers to missing buffer 44"));
}
TEST(TfliteRefuses, EveryTruncationOfAModel) {
  const std::string bytes = convolution().bytes();
  for (std::size_t size = 0; size < bytes.size() - 8; size += 5) {
    const auto read = parse(std::string_view(bytes).substr(0, size), "cut");
    EXPECT_TRUE(!read || read->graph.nodes.size() <= 2U);  // what is cut off may be padding
  }
  EXPECT_FALSE(parse(std::string_view(bytes).substr(0, bytes.size() / 2), "cut"));
}
TEST(TfliteRefuses, NotAModel) { EXPECT_THAT(parse("some text that is long enough", "x").error().text(), HasSubstr("TFL3")); }
TEST(TfliteRefuses, AnotherVersion) {
  ModelFile model = convolution();
  model.version = 4;
  EXPECT_THAT(model.refusal(), HasSubstr("version 4"));
}
TEST(TfliteRefuses, AnUnknownElementType) {
  ModelFile model = convolution();
  model.tensors[0] = tensor("x", {1, 8, 8, 3}, 0, 99);
  EXPECT_THAT(model.refusal(), HasSubstr("(99)"));
}
TEST(TfliteRefuses, ANegativeSize) {
  ModelFile model = convolution();
  model.tensors[0] = tensor("x", {1, -8, 8, 3});
  EXPECT_THAT(model.refusal(), HasSubstr("negative size, -8"));
}
TEST(TfliteRefuses, ACycle) {
  ModelFile model = convolution();
  model.operators = {node(0, {3, 1, -1}, {2}), node(1, {2}, {3})};
  EXPECT_THAT(model.refusal(), HasSubstr("'y' is read before it is produced"));
}
TEST(TfliteRefuses, DuplicateProducer) {
  ModelFile model = convolution();
  model.operators.push_back(node(1, {0}, {3}));
  EXPECT_THAT(model.refusal(), HasSubstr("'y' has more than one producer"));
}
TEST(TfliteRefuses, ConstantsThatDoNotFitTheirShape) {
  ModelFile model = convolution();
  model.tensors[1] = tensor("w", {4, 3, 3, 5}, 1);
  EXPECT_THAT(model.refusal(), HasSubstr("has 432 bytes"));
}
TEST(TfliteRefuses, DanglingReferences) {
  ModelFile model = convolution();
  model.operators = {node(7, {0}, {3})};
  EXPECT_THAT(model.refusal(), HasSubstr("code 7"));
  model.operators = {node(1, {70}, {3})};
  EXPECT_THAT(model.refusal(), HasSubstr("tensor 70"));
}
TEST(TfliteRefuses, AGraphThatRunsItself) {
  ModelFile model;
  model.code(118);
  const Flat self = node(0, {0}, {1}, {{0, number(1)}, {1, number(1)}});
  model.tensors = {tensor("c", {}, 0, 6), tensor("y", {})};
  model.operators = {self};
  model.outputs = {1};
  model.further = {table({{0, tables(model.tensors)}, {1, numbers({0})}, {2, numbers({1})}, {3, tables({self})}})};
  EXPECT_THAT(model.refusal(), HasSubstr("nested more than"));
}

}  // namespace
}  // namespace aaco::graph::tflite
