#include "graph/rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/files.h"
#include "graph/onnx.h"

namespace aaco::graph::rewrite {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
std::vector<std::byte> bytes(const std::vector<T>& values) {
  std::vector<std::byte> out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

// A graph with the input x[4, 64] and the output y, to be filled with nodes by name.
struct Made {
  Graph graph;
  std::map<std::string, TensorId> ids;

  explicit Made(std::int64_t opset = 17) {
    graph.opsets[""] = opset;
    graph.inputs = {tensor("x", Shape{4, 64})};
    graph.outputs = {tensor("y")};
  }
  TensorId tensor(const std::string& name, std::optional<Shape> shape = std::nullopt, ElementType type = ElementType::float32) {
    if (!ids.contains(name)) ids[name] = graph.add_tensor({name, type, std::move(shape)});
    return ids[name];
  }
  void node(const std::string& op, const std::vector<std::string>& in, const std::string& out,
            std::vector<Attribute> attributes = {}) {
    Node made{op + "_" + out, op, "", {}, {tensor(out)}, std::move(attributes)};
    for (const std::string& name : in) made.inputs.push_back(tensor(name));
    graph.nodes.push_back(std::move(made));
  }
  void weight(const std::string& name, const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
    graph.initializers.push_back({tensor(name, Shape(dims.begin(), dims.end())), {bytes(values), std::nullopt}});
  }
  // A matrix of 64 x 32 (or turned) with the column's number + 1 in row 0 and zeros elsewhere.
  void matrix(const std::string& name, bool turned = false) {
    std::vector<float> values(64 * 32, 0);
    for (std::size_t column = 0; column < 32; ++column) values[turned ? column * 64 : column] = static_cast<float>(column + 1);
    weight(name, turned ? std::vector<std::int64_t>{32, 64} : std::vector<std::int64_t>{64, 32}, values);
  }
  [[nodiscard]] std::vector<std::string> operators() const {
    std::vector<std::string> out;
    for (const Node& one : graph.nodes) out.push_back(one.op_type);
    return out;
  }
};

std::string refusal(Graph graph, std::string_view pass) {
  const auto done = apply_pass(graph, pass);
  return done ? "" : done.error().text();
}

const Initializer& initializer(const Graph& graph, const std::string& name) {
  return *std::find_if(graph.initializers.begin(), graph.initializers.end(),
                       [&](const Initializer& one) { return graph.tensor(one.tensor).name == name; });
}

TEST(Clean, RemovesChainsOfNodesThatChangeNothing) {
  Made made;
  made.node("Identity", {"x"}, "a");
  made.node("Dropout", {"a"}, "b");
  made.node("Cast", {"b"}, "c", {{"to", std::int64_t{1}}});
  made.node("Transpose", {"c"}, "d", {{"perm", std::vector<std::int64_t>{0, 1}}});
  made.node("Relu", {"d"}, "y");
  EXPECT_EQ(apply_pass(made.graph, "clean")->nodes, 4);
  EXPECT_THAT(made.operators(), ElementsAre("Relu"));
  EXPECT_EQ(made.graph.nodes[0].inputs[0], made.ids["x"]);
}
TEST(Clean, RemovesNodesThatNothingReads) {
  Made made;
  made.node("Relu", {"x"}, "y");
  made.node("Exp", {"x"}, "unused");
  made.node("Neg", {"unused"}, "unused too");
  EXPECT_EQ(apply_pass(made.graph, "clean")->nodes, 2);
  EXPECT_THAT(made.operators(), ElementsAre("Relu"));
}
TEST(Clean, ComputesShapesOnce) {
  Made made;
  made.node("Shape", {"x"}, "s");
  made.node("Reshape", {"x", "s"}, "r");
  made.node("Relu", {"r"}, "y");
  EXPECT_EQ(apply_pass(made.graph, "clean")->nodes, 2);
  EXPECT_THAT(made.operators(), ElementsAre("Relu"));
}
TEST(Clean, KeepsShapeArithmeticOfOpenDimensions) {
  Made made;
  made.graph.tensor(made.ids["x"]).shape = Shape{"batch", 64};
  made.node("Shape", {"x"}, "s");
  made.node("Reshape", {"x", "s"}, "y");
  EXPECT_THAT(refusal(made.graph, "clean"), HasSubstr("nothing to change"));
}
TEST(Clean, FoldedConstantsAreReadBack) {
  Made made;
  made.node("Constant", {}, "c",
            {{"value", TensorLiteral{{"", ElementType::float32, Shape{2}}, {bytes(std::vector<float>{1, 2}), std::nullopt}}}});
  made.node("Mul", {"x", "c"}, "y");
  EXPECT_EQ(apply_pass(made.graph, "clean")->nodes, 1);
  EXPECT_EQ(initializer(made.graph, "c").constant.data, bytes(std::vector<float>{1, 2}));
}
TEST(Clean, ReshapedWeightsAreConstantsToo) {
  Made made;
  made.matrix("w");
  made.graph.initializers.push_back(
      {made.tensor("s", Shape{2}, ElementType::int64), {bytes(std::vector<std::int64_t>{64, 32}), {}}});
  made.graph.tensor(made.ids["w"]).shape = Shape{64, 4, 8};
  made.node("Reshape", {"w", "s"}, "r");
  made.node("MatMul", {"x", "r"}, "y");
  EXPECT_EQ(count_sites(made.graph, "int8_weights"), 0);
  EXPECT_EQ(apply_pass(made.graph, "clean")->nodes, 1);
  EXPECT_EQ(count_sites(made.graph, "int8_weights"), 1);
  EXPECT_EQ(made.graph.initializers.size(), 1U);
}
TEST(Clean, KeepsWhatMakesAnOutput) {
  Made made;
  made.node("Identity", {"x"}, "y");
  EXPECT_THAT(refusal(made.graph, "clean"), HasSubstr("nothing to change"));
}
TEST(Clean, KeepsWhatABodyReads) {
  Made made;
  made.node("Identity", {"x"}, "a");
  made.node("Relu", {"x"}, "y");
  Graph body;
  body.captured = {body.add_tensor({"a", ElementType::float32, std::nullopt})};
  made.graph.subgraphs = {body};
  EXPECT_THAT(refusal(made.graph, "clean"), HasSubstr("nothing to change"));
}
TEST(Clean, KeepsATrainingDropoutAndACastToAnotherType) {
  Made made;
  made.graph.initializers.push_back({made.tensor("on", Shape{}, ElementType::boolean), {{std::byte{1}}, std::nullopt}});
  made.weight("ratio", {}, {0.5F});
  made.node("Dropout", {"x", "ratio", "on"}, "a");
  made.node("Cast", {"a"}, "y", {{"to", std::int64_t{10}}});
  EXPECT_THAT(refusal(made.graph, "clean"), HasSubstr("nothing to change"));
}

TEST(DynamicInt8, ProductsOfOneInputShareItsConversion) {
  Made made;
  made.matrix("v");
  made.matrix("w");
  made.node("MatMul", {"x", "v"}, "a");
  made.node("MatMul", {"x", "w"}, "b");
  made.node("Add", {"a", "b"}, "y");
  EXPECT_EQ(apply_pass(made.graph, "int8_dynamic")->nodes, 2);
  const auto operators = made.operators();
  EXPECT_EQ(std::count(operators.begin(), operators.end(), "DynamicQuantizeLinear"), 1);
  EXPECT_EQ(std::count(operators.begin(), operators.end(), "MatMulInteger"), 2);
  EXPECT_EQ(std::count(operators.begin(), operators.end(), "MatMul"), 0);
  EXPECT_EQ(made.graph.initializers.size(), 4U);  // the float weights are gone
}
TEST(DynamicInt8, ScalesEachColumnByItself) {
  for (const bool turned : {false, true}) {
    Made made;
    made.matrix("w", turned);
    made.weight("bias", {32}, std::vector<float>(32, 1));
    made.node("Gemm", {"x", "w", "bias"}, "y", {{"transB", std::int64_t{turned ? 1 : 0}}});
    ASSERT_TRUE(apply_pass(made.graph, "int8_dynamic"));
    const auto& values = initializer(made.graph, "w/int8").constant.data;
    EXPECT_EQ(std::count(values.begin(), values.begin() + 32, std::byte{127}), 32) << turned;
    std::vector<float> scales(32);
    std::memcpy(scales.data(), initializer(made.graph, "w/int8/scale").constant.data.data(), 32 * sizeof(float));
    EXPECT_FLOAT_EQ(scales[4], 5.0F / 127);
    EXPECT_EQ(made.graph.nodes.back().op_type, "Add");
    EXPECT_EQ(made.graph.nodes.back().outputs[0], made.ids["y"]);
  }
}
TEST(DynamicInt8, NeedsOpset11) {
  Made made(10);
  made.matrix("w");
  made.node("MatMul", {"x", "w"}, "y");
  EXPECT_THAT(refusal(made.graph, "int8_dynamic"), HasSubstr("nothing to change"));
}
TEST(DynamicInt8, LeavesScaledProductsAndSmallOnes) {
  Made made;
  made.matrix("w");
  made.weight("small", {64, 2}, std::vector<float>(128, 1));
  made.node("Gemm", {"x", "w"}, "a", {{"alpha", 2.0}});
  made.node("MatMul", {"x", "small"}, "b");
  made.node("MatMul", {"x", "x"}, "y");
  EXPECT_EQ(count_sites(made.graph, "int8_dynamic"), 0);
}

TEST(WeightOnly, PacksBlocksOfThirtyTwo) {
  Made made;
  made.matrix("w");
  made.node("MatMul", {"x", "w"}, "y");
  ASSERT_TRUE(apply_pass(made.graph, "int4_weights"));
  const Node& node = made.graph.nodes[0];
  EXPECT_EQ(node.qualified_type(), "com.microsoft.MatMulNBits");
  EXPECT_EQ(node.int_or("K", 0), 64);
  EXPECT_EQ(node.int_or("N", 0), 32);
  EXPECT_EQ(made.graph.opsets["com.microsoft"], 1);
  const auto& packed = initializer(made.graph, "w/int4").constant.data;
  ASSERT_EQ(packed.size(), 32U * 2 * 16);
  EXPECT_EQ(packed[0], std::byte{0x80});  // the largest weight is the lowest step, the zero beside it the middle
  EXPECT_EQ(packed[1], std::byte{0x88});
  std::vector<float> scales(64);
  std::memcpy(scales.data(), initializer(made.graph, "w/int4/scale").constant.data.data(), 64 * sizeof(float));
  EXPECT_FLOAT_EQ(scales[0], -1.0F / 8);
  EXPECT_FLOAT_EQ(scales[1], 0);  // the second block of the first column has zeros only
}
TEST(WeightOnly, EightBitsTakeAByteEach) {
  Made made;
  made.matrix("w");
  made.node("MatMul", {"x", "w"}, "y");
  ASSERT_TRUE(apply_pass(made.graph, "int8_weights"));
  EXPECT_EQ(initializer(made.graph, "w/int8").constant.data.size(), 32U * 64);
}
TEST(WeightOnly, IsRefusedWithoutConstantWeights) {
  Made made;
  made.node("MatMul", {"x", "x"}, "y");
  EXPECT_THAT(refusal(made.graph, "int4_weights"), HasSubstr("nothing to change"));
}

// x -> Conv of 64 channels, rows of 1 in each -> BatchNormalization -> Relu -> Conv -> y.
Made two_convolutions(std::int64_t opset = 17) {
  Made made(opset);
  made.graph.tensor(made.ids["x"]).shape = Shape{1, 4, 8, 8};
  made.weight("w", {64, 4, 1, 1}, std::vector<float>(64 * 4, 1));
  made.weight("v", {8, 64, 1, 1}, std::vector<float>(8 * 64, 0.5F));
  made.weight("bias", {8}, std::vector<float>(8, 3));
  for (const char* name : {"scale", "variance"}) made.weight(name, {64}, std::vector<float>(64, 4));
  for (const char* name : {"shift", "mean"}) made.weight(name, {64}, std::vector<float>(64, 1));
  made.node("Conv", {"x", "w"}, "a");
  made.node("BatchNormalization", {"a", "scale", "shift", "mean", "variance"}, "b", {{"epsilon", 0.0}});
  made.node("Relu", {"b"}, "c");
  made.node("Conv", {"c", "v", "bias"}, "y");
  return made;
}
const ActivationRanges kRanges = {{"x", {-2, 8}}, {"c", {0, 8}}, {"y", {-2, 200}}};

std::vector<float> floats(const Graph& graph, const std::string& name) {
  const auto& data = initializer(graph, name).constant.data;
  std::vector<float> values(data.size() / sizeof(float));
  std::memcpy(values.data(), data.data(), data.size());
  return values;
}

TEST(StaticInt8, ChainIsQuantizedWithTheNormalizationAndTheActivationInIt) {
  Made made = two_convolutions();
  const auto done = apply_pass(made.graph, "int8_static", kRanges);
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->nodes, 2);
  EXPECT_THAT(made.operators(), ElementsAre("QuantizeLinear", "DequantizeLinear", "DequantizeLinear", "DequantizeLinear", "Conv",
                                            "QuantizeLinear", "DequantizeLinear", "DequantizeLinear", "DequantizeLinear", "Conv",
                                            "QuantizeLinear", "DequantizeLinear"));
  // The factor is 4 / sqrt(4), the weight's largest value therefore 2; the bias (0 - 1) * 2 + 1.
  EXPECT_FLOAT_EQ(floats(made.graph, "b/weight/scale").at(0), 2.0F / 127);
  EXPECT_EQ(initializer(made.graph, "b/weight/int8").constant.data.at(0), std::byte{127});
  std::int32_t bias = 0;
  std::memcpy(&bias, initializer(made.graph, "b/bias/int32").constant.data.data(), sizeof(bias));
  EXPECT_NEAR(bias * (2.0 / 127) * (10.0 / 255), -1, 1e-3);
  EXPECT_FLOAT_EQ(floats(made.graph, "c/q/scale").at(0), 8.0F / 255);
  EXPECT_EQ(initializer(made.graph, "x/q/zero").constant.data.at(0), std::byte{51});
  EXPECT_EQ(made.graph.tensor(made.graph.outputs[0]).name, "y");
}
TEST(StaticInt8, TensorWithoutAFiniteRangeStaysAsItIs) {
  Made made = two_convolutions();
  ActivationRanges ranges = kRanges;
  ranges["c"] = {0, HUGE_VALF};
  ASSERT_EQ(apply_pass(made.graph, "int8_static", ranges)->nodes, 1);  // the second one's input is not quantized
  EXPECT_THAT(made.operators(), testing::Contains("Relu"));
}
TEST(StaticInt8, ResultReadElsewhereKeepsItsActivation) {
  Made made = two_convolutions();
  made.node("Exp", {"b"}, "z");
  made.graph.outputs.push_back(made.ids["z"]);
  ActivationRanges ranges = kRanges;
  ranges["b"] = {-9, 8};
  ASSERT_EQ(apply_pass(made.graph, "int8_static", ranges)->nodes, 2);
  EXPECT_THAT(made.operators(), testing::Contains("Relu"));
}
TEST(StaticInt8, PoolingPassesTheRangeOnAndSumsAreQuantized) {
  Made made;
  made.graph.tensor(made.ids["x"]).shape = Shape{1, 4, 8, 8};
  made.weight("w", {4, 4, 3, 3}, std::vector<float>(144, 1));
  made.node("MaxPool", {"x"}, "p", {{"kernel_shape", std::vector<std::int64_t>{1, 1}}});
  made.node("Conv", {"x", "w"}, "a", {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  made.node("Add", {"a", "p"}, "s");
  made.node("Relu", {"s"}, "y");
  ASSERT_TRUE(apply_pass(made.graph, "int8_static", {{"x", {-1, 1}}, {"a", {-9, 9}}, {"y", {0, 10}}}));
  EXPECT_EQ(floats(made.graph, "p/q/scale"), floats(made.graph, "x/q/scale"));
  EXPECT_FLOAT_EQ(floats(made.graph, "y/q/scale").at(0), 10.0F / 255);
  EXPECT_THAT(made.operators(), testing::Not(testing::Contains("Relu")));
}
TEST(StaticInt8, RequiresRangesAndChannelScales) {
  EXPECT_THAT(refusal(two_convolutions().graph, "int8_static"), HasSubstr("ranges"));
  EXPECT_THAT(refusal(two_convolutions(12).graph, "int8_static"), HasSubstr("nothing to change"));
}
TEST(StaticInt8, RangeModelYieldsTheExtremesOfEachTensor) {
  const auto folder = *core::TemporaryDirectory::make(testing::TempDir());
  const std::string from = core::join_path(folder.path(), "a.onnx"), to = core::join_path(folder.path(), "b.onnx");
  ASSERT_TRUE(onnx::write(two_convolutions().graph, nullptr, from));
  const auto names = write_range_model(from, to);
  ASSERT_TRUE(names) << names.error().text();
  EXPECT_THAT(*names, testing::UnorderedElementsAre("x", "c", "y"));
  const auto written = onnx::load(to);
  ASSERT_TRUE(written) << written.error().text();
  ASSERT_EQ(written->outputs.size(), 6U);
  EXPECT_EQ(written->tensor(written->outputs[0]).name, names->front() + "/ReduceMin");
}

TEST(Float16, ComputesInHalvesBetweenCasts) {
  Made made;
  made.matrix("w");
  made.weight("bias", {32}, std::vector<float>(32, 1));
  made.node("MatMul", {"x", "w"}, "a");
  made.node("Add", {"a", "bias"}, "b");
  made.node("Relu", {"b"}, "y");
  EXPECT_EQ(apply_pass(made.graph, "float16")->nodes, 3);
  EXPECT_THAT(made.operators(), ElementsAre("Cast", "MatMul", "Add", "Relu", "Cast"));
  EXPECT_EQ(made.graph.nodes.back().outputs[0], made.ids["y"]);
  EXPECT_EQ(made.graph.tensor(made.ids["y"]).type, ElementType::float32);
  const auto& half = initializer(made.graph, "w/float16");
  EXPECT_EQ(made.graph.tensor(half.tensor).type, ElementType::float16);
  ASSERT_EQ(half.constant.data.size(), 64U * 32 * 2);
  EXPECT_EQ(half.constant.data[3], std::byte{0x40});  // 2 is 0x4000
  EXPECT_EQ(made.graph.initializers.size(), 2U);      // the float32 ones are gone
}
TEST(Float16, OperatorsThatItDoesNotKnowStayFloat32) {
  Made made;
  made.matrix("w");
  made.node("MatMul", {"x", "w"}, "a");
  made.node("Acosh", {"a"}, "b");
  made.node("Relu", {"a"}, "c");
  made.node("Add", {"b", "c"}, "y");
  EXPECT_EQ(apply_pass(made.graph, "float16")->nodes, 3);
  EXPECT_THAT(made.operators(), ElementsAre("Cast", "MatMul", "Cast", "Acosh", "Relu", "Cast", "Add", "Cast"));
  EXPECT_EQ(made.graph.nodes[3].inputs[0], made.ids["a"]);
}
TEST(Float16, NodesOfConstantsBeyondItsRangeStayFloat32) {
  Made made;
  made.matrix("w");
  made.weight("mask", {32}, std::vector<float>(32, -3.4e38F));
  made.node("MatMul", {"x", "w"}, "a");
  made.node("Add", {"a", "mask"}, "y");
  EXPECT_EQ(apply_pass(made.graph, "float16")->nodes, 1);
  EXPECT_THAT(made.operators(), ElementsAre("Cast", "MatMul", "Cast", "Add"));
}
TEST(Float16, WhatABodyReadsStaysFloat32) {
  Made made;
  made.matrix("w");
  made.node("MatMul", {"x", "w"}, "a");
  made.node("Relu", {"a"}, "y");
  Graph body;
  body.captured = {body.add_tensor({"a", ElementType::float32, std::nullopt})};
  made.graph.subgraphs = {body};
  EXPECT_EQ(apply_pass(made.graph, "float16")->nodes, 2);
  EXPECT_THAT(made.operators(), ElementsAre("Cast", "MatMul", "Cast", "Relu", "Cast"));
}
TEST(Float16, RequiresAProductOfFloat32AndOpset11) {
  Made made, old(10);
  made.node("Relu", {"x"}, "y");
  EXPECT_THAT(refusal(made.graph, "float16"), HasSubstr("nothing to change"));
  old.matrix("w");
  old.node("MatMul", {"x", "w"}, "y");
  EXPECT_THAT(refusal(old.graph, "float16"), HasSubstr("nothing to change"));
}

TEST(Rewrite, UnknownPassIsRefusedWithTheKnownOnes) {
  EXPECT_THAT(refusal(Made().graph, "faster"), testing::AllOf(HasSubstr("unknown rewrite 'faster'"), HasSubstr("int8_dynamic")));
}
TEST(Rewrite, WritesWeightsThatItDidNotLoad) {
  const auto folder = *core::TemporaryDirectory::make(testing::TempDir());
  const std::string from = core::join_path(folder.path(), "a.onnx"), to = core::join_path(folder.path(), "b.onnx");
  Made made;
  std::vector<float> large(64 * 512);
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<float>(i);
  made.weight("w", {64, 512}, large);
  made.node("Identity", {"x"}, "a");
  made.node("MatMul", {"a", "w"}, "y");
  ASSERT_TRUE(onnx::write(made.graph, nullptr, from));
  const auto done = rewrite_model(from, {"clean"}, to);
  ASSERT_TRUE(done) << done.error().text();
  const auto written = onnx::load(to);
  ASSERT_TRUE(written) << written.error().text();
  EXPECT_EQ(written->nodes.size(), 1U);
  const DataLocation& where = *written->initializers[0].constant.location;
  const std::string file = *core::read_file(to);
  EXPECT_EQ(file.substr(static_cast<std::size_t>(where.offset), static_cast<std::size_t>(where.bytes)),
            std::string(reinterpret_cast<const char*>(large.data()), large.size() * sizeof(float)));
}
TEST(Rewrite, MissingModelIsRefused) { EXPECT_FALSE(rewrite_model("/nowhere/a.onnx", {"clean"}, "/nowhere/b.onnx")); }

}  // namespace
}  // namespace aaco::graph::rewrite
