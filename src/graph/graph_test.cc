#include "graph/graph.h"

#include <gtest/gtest.h>

namespace aaco::graph {
namespace {

TEST(ElementTypes, NamesAndShortNamesAreRead) {
  for (const char* text : {"float32", "fp32", "f32", "FLOAT", "Float32"})
    EXPECT_EQ(element_type_from_string(text), ElementType::float32) << text;
  EXPECT_EQ(element_type_from_string("bf16"), ElementType::bfloat16);
  EXPECT_EQ(element_type_from_string("bool"), ElementType::boolean);
  EXPECT_EQ(to_string(ElementType::boolean), "bool");
}
TEST(ElementTypes, UnknownNamesAreRejected) {
  for (const char* text : {"", "unknown", "float", "float33", "int", " "})
    EXPECT_EQ(element_type_from_string(text).has_value(), std::string_view(text) == "float") << text;
}
TEST(ElementTypes, EveryNameIsReadBack) {
  for (int number = 1; number <= static_cast<int>(ElementType::string); ++number) {
    const auto type = static_cast<ElementType>(number);
    EXPECT_EQ(element_type_from_string(to_string(type)), type) << number;
  }
}
TEST(ElementTypes, PackedTypesRoundUp) {
  EXPECT_EQ(bytes_of(ElementType::int4, 3), 2);
  EXPECT_EQ(bytes_of(ElementType::float32, 3), 12);
  EXPECT_EQ(bytes_of(ElementType::float32, 0), 0);
}
TEST(ElementTypes, UnsizedTypesHaveNoBytes) {
  EXPECT_FALSE(bytes_of(ElementType::string, 3));
  EXPECT_FALSE(bytes_of(ElementType::unknown, 3));
  EXPECT_FALSE(bytes_of(ElementType::float32, -1));
  EXPECT_FALSE(bytes_of(ElementType::float64, INT64_MAX / 8));
}
TEST(ElementTypes, OverflowingSizesSaturate) {
  std::int64_t sum = 1;
  add_size(sum, 2);
  EXPECT_EQ(sum, 3);
  add_size(sum, INT64_MAX - 2);
  EXPECT_EQ(sum, INT64_MAX);
  add_size(sum, INT64_MAX);
  EXPECT_EQ(sum, INT64_MAX);
}
TEST(ElementTypes, RecognisesFloatingTypes) {
  EXPECT_TRUE(is_floating(ElementType::float4e2m1));
  EXPECT_TRUE(is_floating(ElementType::bfloat16));
  EXPECT_FALSE(is_floating(ElementType::int64));
  EXPECT_FALSE(is_floating(ElementType::boolean));
}

TEST(Shapes, AreCountedWhereTheyAreFixed) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3}), 6);
  EXPECT_EQ(element_count({2, 0}), 0);
}
TEST(Shapes, AreNotCountedOtherwise) {
  EXPECT_FALSE(element_count({"n", 3}));
  EXPECT_FALSE(element_count({Dimension{}, 3}));
  EXPECT_FALSE(element_count({Dimension(INT64_MAX), 2}));
}
TEST(Shapes, ReadWell) { EXPECT_EQ(to_string(Shape{"batch", 3, Dimension{}}), "[batch, 3, ?]"); }

TEST(Nodes, AnswerTheirAttributesByKind) {
  const Node node{
      "n",
      "Conv",
      "",
      {},
      {},
      {{"group", std::int64_t{2}}, {"epsilon", 0.5}, {"mode", std::string("same")}, {"pads", std::vector<std::int64_t>{1, 2}}}};
  EXPECT_EQ(node.int_or("group", 1), 2);
  EXPECT_EQ(node.float_or("epsilon", 1), 0.5);
  EXPECT_EQ(node.string_or("mode", ""), "same");
  EXPECT_EQ(node.ints_or("pads", {}), (std::vector<std::int64_t>{1, 2}));
}
TEST(Nodes, FallBackWhereAnAttributeIsAbsentOrOfAnotherKind) {
  const Node node{"n", "Conv", "", {}, {}, {{"group", std::string("two")}}};
  EXPECT_EQ(node.int_or("group", 1), 1);
  EXPECT_EQ(node.int_or("axis", -1), -1);
  EXPECT_EQ(node.attribute("axis"), nullptr);
}

TEST(Constants, AreSummedThroughSubgraphs) {
  Graph body;
  body.initializers.push_back({body.add_tensor({"w", ElementType::float32, Shape{4}}), {}});
  Graph graph;
  graph.initializers.push_back({graph.add_tensor({"v", ElementType::int8, Shape{3}}), {}});
  graph.initializers.push_back({graph.add_tensor({"s", ElementType::string, Shape{3}}), {}});
  graph.subgraphs.push_back(body);
  EXPECT_EQ(total_constants(graph).elements, 7);
  EXPECT_EQ(total_constants(graph).bytes, 19);
}

}  // namespace
}  // namespace aaco::graph
