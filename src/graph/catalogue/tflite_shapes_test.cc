#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "graph/shapes.h"

namespace aaco::graph {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Numbers = std::vector<std::int32_t>;

// One operator whose output's sizes the file leaves open.
struct Operator {
  Graph graph;
  Node node;
  std::vector<Attribute> attributes;

  Operator(const std::string& op, const std::vector<Shape>& inputs) : node{op, op, "tflite", {}, {}, {}} {
    for (const Shape& shape : inputs) node.inputs.push_back(add(shape));
  }
  TensorId add(const Shape& shape, ElementType type = ElementType::float32) {
    return graph.add_tensor({"t" + std::to_string(graph.tensors.size()), type, shape});
  }
  // An input of known numbers, before (`at` 0) or behind the others.
  Operator& numbers(const Numbers& values, std::optional<std::size_t> at = {}) {
    const TensorId id = add({static_cast<std::int64_t>(values.size())}, ElementType::int32);
    std::vector<std::byte> data(values.size() * sizeof(std::int32_t));
    std::memcpy(data.data(), values.data(), data.size());
    graph.initializers.push_back({id, {std::move(data), {}}});
    node.inputs.insert(at ? node.inputs.begin() + static_cast<std::ptrdiff_t>(*at) : node.inputs.end(), id);
    return *this;
  }
  Operator& with(const char* name, AttributeValue value) {
    node.attributes.push_back({name, std::move(value)});
    return *this;
  }
  // Its outputs' shapes, or what does not fit.
  std::string shapes(std::size_t outputs = 1, const std::optional<Shape>& declared = {}) {
    for (std::size_t output = 0; output < outputs; ++output)
      node.outputs.push_back(graph.add_tensor({"y" + std::to_string(output), ElementType::float32, declared}));
    graph.nodes = {node};
    const ShapeReport report = infer_shapes(graph);
    if (!report.problems.empty()) return report.problems[0];
    std::string text;
    for (const TensorId id : graph.nodes[0].outputs) text += graph.tensor(id).shape ? to_string(*graph.tensor(id).shape) : "?";
    return text;
  }
};

Operator convolution(const char* op, const Shape& input, const Shape& filter, const char* padding = "SAME_UPPER") {
  return std::move(
      Operator(op, {input, filter}).with("auto_pad", std::string(padding)).with("strides", std::vector<std::int64_t>{2, 2}));
}

TEST(TfliteShapes, ConvolutionsSlide) {
  EXPECT_EQ(convolution("CONV_2D", {8, 225, 224, 3}, {16, 3, 3, 3}).shapes(), "[8, 113, 112, 16]");
  EXPECT_EQ(convolution("CONV_2D", {8, 225, 224, 3}, {16, 3, 3, 3}, "VALID").shapes(), "[8, 112, 111, 16]");
  EXPECT_EQ(convolution("DEPTHWISE_CONV_2D", {2, 9, 9, 3}, {1, 3, 3, 6}).shapes(), "[2, 5, 5, 6]");
  EXPECT_EQ(convolution("CONV_2D", {8, 225, 224, 3}, {16, 3, 3, 3}, "VALID")
                .with("dilations", std::vector<std::int64_t>{4, 4})
                .shapes(),
            "[8, 109, 108, 16]");
}
TEST(TfliteShapes, DeclaredShapesAreKept) {
  EXPECT_EQ(convolution("CONV_2D", {8, 225, 224, 3}, {16, 3, 3, 3}).shapes(1, Shape{1, 2, 3, 4}), "[1, 2, 3, 4]");
}
TEST(TfliteShapes, TransposedConvolutionUsesGivenSize) {
  EXPECT_EQ(Operator("TRANSPOSE_CONV", {{3, 2, 2, 8}, {1, 4, 4, 8}}).numbers({1, 8, 8, 3}, 0).shapes(), "[1, 8, 8, 3]");
}
TEST(TfliteShapes, PoolsHaveTheirWindowInTheirOptions) {
  EXPECT_EQ(Operator("MAX_POOL_2D", {{1, 9, 9, 4}})
                .with("auto_pad", std::string("VALID"))
                .with("strides", std::vector<std::int64_t>{2, 2})
                .with("filter_height", std::int64_t{3})
                .with("filter_width", std::int64_t{2})
                .shapes(),
            "[1, 4, 4, 4]");
}
TEST(TfliteShapes, AFullyConnectedLayerTakesRows) {
  EXPECT_EQ(Operator("FULLY_CONNECTED", {{2, 5, 8}, {16, 8}}).shapes(), "[10, 16]");
  EXPECT_EQ(Operator("FULLY_CONNECTED", {{2, 5, 8}, {16, 8}}).with("keep_num_dims", std::int64_t{1}).shapes(), "[2, 5, 16]");
  EXPECT_EQ(Operator("FULLY_CONNECTED", {{4, 7, 7, 2}, {16, 98}}).shapes(), "[4, 16]");
}
TEST(TfliteShapes, ProductsTurnTheirOperands) {
  EXPECT_EQ(Operator("BATCH_MATMUL", {{2, 1, 5, 8}, {3, 16, 8}}).with("adj_y", std::int64_t{1}).shapes(), "[2, 3, 5, 16]");
  EXPECT_EQ(Operator("BATCH_MATMUL", {{2, 8, 5}, {2, 8, 16}}).with("adj_x", std::int64_t{1}).shapes(), "[2, 5, 16]");
  EXPECT_THAT(Operator("BATCH_MATMUL", {{2, 5, 8}, {2, 16, 8}}).shapes(), HasSubstr("incompatible"));
}
TEST(TfliteShapes, AReshapeHasNumbersOrOptions) {
  EXPECT_EQ(Operator("RESHAPE", {{4, 6, 2}}).numbers({-1, 12}).shapes(), "[4, 12]");
  EXPECT_EQ(Operator("RESHAPE", {{4, 6, 2}}).with("new_shape", std::vector<std::int64_t>{2, -1}).shapes(), "[2, 24]");
  EXPECT_THAT(Operator("RESHAPE", {{4, 6, 2}}).numbers({1, 12}).shapes(), HasSubstr("cannot reshape [4, 6, 2] to [1, 12]"));
}
TEST(TfliteShapes, DimensionsComeAndGo) {
  EXPECT_EQ(Operator("SQUEEZE", {{1, 5, 1}}).with("squeeze_dims", std::vector<std::int64_t>{-1}).shapes(), "[1, 5]");
  EXPECT_EQ(Operator("SQUEEZE", {{1, 5, 1}}).shapes(), "[5]");
  EXPECT_EQ(Operator("EXPAND_DIMS", {{4, 5}}).numbers({-1}).shapes(), "[4, 5, 1]");
  EXPECT_EQ(Operator("TRANSPOSE", {{4, 5, 6}}).numbers({2, 0, 1}).shapes(), "[6, 4, 5]");
  EXPECT_THAT(Operator("TRANSPOSE", {{4, 5, 6}}).numbers({3, 0, 1}).shapes(), HasSubstr("out of range"));
  EXPECT_EQ(Operator("PACK", {{4}, {4}}).with("axis", std::int64_t{1}).shapes(), "[4, 2]");
  EXPECT_EQ(Operator("UNPACK", {{2, 4}}).shapes(2), "[4][4]");
}
TEST(TfliteShapes, PartsAreJoinedAndSplit) {
  EXPECT_EQ(Operator("CONCATENATION", {{2, 3}, {2, 5}}).with("axis", std::int64_t{-1}).shapes(), "[2, 8]");
  EXPECT_THAT(Operator("CONCATENATION", {{2, 3}, {4, 5}}).with("axis", std::int64_t{-1}).shapes(), HasSubstr("incompatible"));
  EXPECT_EQ(Operator("SPLIT", {{2, 6}}).numbers({1}, 0).shapes(3), "[2, 2][2, 2][2, 2]");
  EXPECT_EQ(Operator("SPLIT_V", {{2, 6}}).numbers({4, -1}).numbers({1}).shapes(2), "[2, 4][2, 2]");
}
TEST(TfliteShapes, PartsAreCutOut) {
  EXPECT_EQ(Operator("SLICE", {{4, 9}}).numbers({1, 2}).numbers({-1, 5}).shapes(), "[3, 5]");
  const auto cut = [](const char* mask, std::int64_t bits, const Numbers& begin, const Numbers& end, const Numbers& step) {
    return Operator("STRIDED_SLICE", {{4, 9, 3}}).numbers(begin).numbers(end).numbers(step).with(mask, bits).shapes();
  };
  EXPECT_EQ(cut("begin_mask", 0, {1, 0}, {3, 9}, {1, 2}), "[2, 5, 3]");
  EXPECT_EQ(cut("end_mask", 3, {1, 2}, {0, 0}, {1, 1}), "[3, 7, 3]");
  EXPECT_EQ(cut("shrink_axis_mask", 1, {-1, 0}, {0, 9}, {1, 1}), "[9, 3]");
  EXPECT_EQ(cut("begin_mask", 3, {0, 0}, {0, -9}, {-1, -1}), "[3, 8, 3]");
  EXPECT_EQ(cut("begin_mask", 0, {3}, {1}, {1}), "[0, 9, 3]");
  EXPECT_EQ(cut("begin_mask", 0, {0}, {4}, {0}), "[?, 9, 3]");
  EXPECT_EQ(cut("new_axis_mask", 1, {0}, {1}, {1}), "?");
}
TEST(TfliteShapes, RowsArePicked) {
  EXPECT_EQ(Operator("GATHER", {{9, 4}, {2, 3}}).shapes(), "[2, 3, 4]");
  EXPECT_EQ(Operator("GATHER", {{2, 9, 4}, {2, 3}}).with("axis", std::int64_t{1}).with("batch_dims", std::int64_t{1}).shapes(),
            "[2, 3, 4]");
  EXPECT_EQ(Operator("EMBEDDING_LOOKUP", {{7}, {100, 4}}).shapes(), "[7, 4]");
  EXPECT_THAT(Operator("GATHER", {{9, 4}}).numbers({9}).shapes(), HasSubstr("the indices reach 9"));
}
TEST(TfliteShapes, ReductionsDropTheirAxes) {
  EXPECT_EQ(Operator("MEAN", {{2, 7, 7, 5}}).numbers({1, 2}).shapes(), "[2, 5]");
  EXPECT_EQ(Operator("MEAN", {{2, 7, 7, 5}}).numbers({1, 2}).with("keep_dims", std::int64_t{1}).shapes(), "[2, 1, 1, 5]");
  EXPECT_EQ(Operator("ARG_MAX", {{2, 7}}).numbers({-1}).shapes(), "[2]");
  EXPECT_THAT(Operator("SUM", {{2, 7}}).numbers({2}).shapes(), HasSubstr("out of range"));
}
TEST(TfliteShapes, ImagesGrowAndShrink) {
  EXPECT_EQ(Operator("RESIZE_BILINEAR", {{2, 7, 7, 5}}).numbers({14, 21}).shapes(), "[2, 14, 21, 5]");
  EXPECT_EQ(Operator("PAD", {{2, 7, 7, 5}}).numbers({0, 0, 1, 2, 3, 4, 0, 0}).shapes(), "[2, 10, 14, 5]");
  EXPECT_EQ(Operator("DEPTH_TO_SPACE", {{2, 7, 7, 8}}).with("block_size", std::int64_t{2}).shapes(), "[2, 14, 14, 2]");
  EXPECT_EQ(Operator("SPACE_TO_DEPTH", {{2, 8, 6, 2}}).with("block_size", std::int64_t{2}).shapes(), "[2, 4, 3, 8]");
}
TEST(TfliteShapes, OperandsAreBroadcast) {
  EXPECT_EQ(Operator("ADD", {{2, 1, 5}, {7, 1}}).shapes(), "[2, 7, 5]");
  EXPECT_THAT(Operator("ADD", {{2, 3}, {2, 4}}).shapes(), HasSubstr("cannot be broadcast"));
}
TEST(TfliteShapes, ASequenceHasItsUnits) {
  std::vector<Shape> inputs(9, Shape{20, 8});
  inputs[0] = {2, 30, 8};
  inputs[8] = {20, 20};
  EXPECT_EQ(Operator("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs).shapes(), "[2, 30, 20]");
}

// What converters write for tf.reshape(x, [tf.shape(x)[0], -1, 4]).
TEST(TfliteShapes, NumbersAreFollowedFromShapeToReshape) {
  Graph graph;
  const auto tensor = [&](const char* name, std::optional<Shape> shape, ElementType type = ElementType::int32) {
    return graph.add_tensor({name, type, std::move(shape)});
  };
  const auto numbers = [&](const Numbers& values, const Shape& shape) {
    const TensorId id = tensor(("c" + std::to_string(graph.tensors.size())).c_str(), shape);
    std::vector<std::byte> data(values.size() * sizeof(std::int32_t));
    std::memcpy(data.data(), values.data(), data.size());
    graph.initializers.push_back({id, {std::move(data), {}}});
    return id;
  };
  const TensorId x = tensor("x", Shape{6, 2, 8}, ElementType::float32), sizes = tensor("sizes", Shape{3}),
                 first = tensor("first", Shape{}), wanted = tensor("wanted", Shape{3}),
                 y = tensor("y", Shape{Dimension{}, Dimension{}, 4}, ElementType::float32);
  graph.inputs = {x};
  graph.outputs = {y};
  const TensorId begin = numbers({0}, {1}), end = numbers({1}, {1}), step = numbers({1}, {1}), rest = numbers({-1}, {}),
                 four = numbers({4}, {});
  graph.nodes = {{"shape", "SHAPE", "tflite", {x}, {sizes}, {}},
                 {"cut", "STRIDED_SLICE", "tflite", {sizes, begin, end, step}, {first}, {{"shrink_axis_mask", std::int64_t{1}}}},
                 {"pack", "PACK", "tflite", {first, rest, four}, {wanted}, {}},
                 {"reshape", "RESHAPE", "tflite", {x, wanted}, {y}, {}}};
  EXPECT_THAT(infer_shapes(graph).problems, ElementsAre());
  EXPECT_EQ(to_string(*graph.tensor(y).shape), "[6, 4, 4]");
}

}  // namespace
}  // namespace aaco::graph
