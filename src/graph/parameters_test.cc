#include "graph/parameters.h"

#include <gtest/gtest.h>

namespace aaco::graph {
namespace {

struct Model {
  TensorId weight(Shape shape, ElementType type = ElementType::float32) {
    const TensorId id = graph.add_tensor({"w" + std::to_string(graph.tensors.size()), type, std::move(shape)});
    graph.initializers.push_back({id, {}});
    return id;
  }
  void node(const std::string& op, std::vector<TensorId> inputs) {
    graph.nodes.push_back({op, op, "", std::move(inputs), {}, {}});
  }
  [[nodiscard]] std::int64_t elements() const { return count_parameters(graph).elements; }
  Graph graph;
};

TEST(Parameters, SharedWeightCountsOnce) {
  Model model;
  const TensorId w = model.weight({3, 4});
  model.node("MatMul", {w});
  model.node("Gather", {w});
  EXPECT_EQ(model.elements(), 12);
  EXPECT_EQ(count_parameters(model.graph).bytes, 48);
}
TEST(Parameters, RunningStatisticsAreNotWeights) {
  Model model;
  model.node("BatchNormalization",
             {model.weight({1, 5}), model.weight({5}), model.weight({5}), model.weight({5}), model.weight({5})});
  EXPECT_EQ(model.elements(), 15);
}
TEST(Parameters, RotaryFrequenciesAreNotWeights) {
  Model model;
  const TensorId frequencies = model.weight({64});
  model.graph.tensors.back().name = "model.rotary_emb.inv_freq";
  model.node("Mul", {frequencies});
  model.node("Mul", {model.weight({64})});
  EXPECT_EQ(model.elements(), 64);
  const TensorId unused = model.weight({1});
  model.node("GroupQueryAttention", {unused, unused, unused, {}, {}, {}, {}, model.weight({9, 9}), model.weight({9, 9})});
  EXPECT_EQ(model.elements(), 64);
}
TEST(Parameters, PyTorchBuffersAreNotWeights) {
  Model model;
  const auto read = [&](const char* op, std::size_t inputs) {
    std::vector<TensorId> ids;
    for (std::size_t input = 0; input < inputs; ++input) ids.push_back(model.weight({5, 5}));
    model.node(op, std::move(ids));
    model.graph.nodes.back().domain = "aten";
    return model.elements() / 25;
  };
  EXPECT_EQ(read("batch_norm", 5), 3);  // weight, bias and what is normalised
  EXPECT_EQ(read("_native_batch_norm_legit_no_training", 5), 3 + 3);
  EXPECT_EQ(read("index_put_", 2), 6 + 1);  // a cache is written over
  EXPECT_EQ(read("linear", 3), 7 + 3);
}
TEST(Parameters, QuantisedWeightsAre) {
  Model model;
  model.node("DequantizeLinear",
             {model.weight({3, 4}, ElementType::int8), model.weight({3}), model.weight({3}, ElementType::int8)});
  EXPECT_EQ(model.elements(), 12);
  EXPECT_EQ(count_parameters(model.graph).types.at(ElementType::int8), 12);
}
TEST(Parameters, WeightsPackedInBytesCountEachAndTheirScalesDoNot) {
  Model model;
  model.node("MatMulNBits", {TensorId{}, model.weight({10, 2, 16}, ElementType::uint8), model.weight({20})});
  EXPECT_EQ(model.elements(), 640);
  EXPECT_EQ(count_parameters(model.graph).bytes, 320);
  EXPECT_EQ(count_parameters(model.graph).types.at(ElementType::uint4), 640);
  model.node("MatMulNBits", {TensorId{}, model.weight({10, 2, 32}, ElementType::uint8), model.weight({20})});
  model.graph.nodes.back().attributes = {{"bits", std::int64_t{8}}};
  EXPECT_EQ(model.elements(), 640 + 640);
  model.node("GatherBlockQuantized", {model.weight({30, 16}, ElementType::uint4), TensorId{}, model.weight({30})});
  EXPECT_EQ(model.elements(), 1280 + 480) << "each has an element of its own here";
  model.node("QMoE", {TensorId{}, TensorId{}, model.weight({8, 6, 2}, ElementType::uint8), model.weight({8, 6})});
  EXPECT_EQ(model.elements(), 1760 + 192);
}
TEST(Parameters, PackedWeightsThatABodyReadsToo) {
  Model body, model;
  const TensorId captured = body.graph.add_tensor({"w0", ElementType::unknown, {}});
  body.graph.captured = {captured};
  body.node("MatMulNBits", {TensorId{}, captured});
  (void)model.weight({4, 1, 16}, ElementType::uint8);
  model.graph.subgraphs = {body.graph};
  EXPECT_EQ(model.elements(), 128);
}
TEST(Parameters, ScalarsSizesAndUnusedTensorsAreNotWeights) {
  Model model;
  model.node("Mul", {model.weight({}), model.weight({1})});
  model.node("Reshape", {model.weight({2, 3}, ElementType::int64)});
  (void)model.weight({100});
  EXPECT_EQ(model.elements(), 0);
}
TEST(Parameters, ThoseThatABodyReadsAre) {
  Model body, model;
  const TensorId captured = body.graph.add_tensor({"w0", ElementType::float32, Shape{2, 2}});
  body.graph.captured = {captured};
  body.node("MatMul", {captured, body.weight({2, 5})});
  (void)model.weight({2, 2});
  model.graph.subgraphs = {body.graph};
  EXPECT_EQ(model.elements(), 4 + 10);
}
TEST(Parameters, ConstantsOfNodesAre) {
  Model model;
  TensorLiteral literal{{"", ElementType::float32, Shape{4}}, {}};
  model.graph.nodes.push_back({"c", "Constant", "", {}, {}, {{"value", literal}}});
  EXPECT_EQ(model.elements(), 4);
}
TEST(Parameters, WeightsMadeFromTheirSizesAreAndThoseMadeFromWeightsAreNot) {
  Model model;
  const TensorId x = model.graph.add_tensor({"x", ElementType::float32, Shape{1, 6}});
  model.graph.inputs = {x};
  const TensorId made = model.graph.add_tensor({"made", ElementType::float32, Shape{6, 4}});
  const TensorId turned = model.graph.add_tensor({"turned", ElementType::float32, Shape{6, 4}});
  model.graph.nodes.push_back({"c", "ConstantOfShape", "", {model.weight({2}, ElementType::int64)}, {made}, {}});
  model.graph.nodes.push_back({"t", "Transpose", "", {model.weight({4, 6})}, {turned}, {}});
  model.node("MatMul", {x, made});
  model.node("Gemm", {x, made});
  model.node("MatMul", {x, turned});
  EXPECT_EQ(model.elements(), 24 + 24);
}
TEST(Parameters, UnknownShapesCountAsNothing) {
  Model model;
  model.node("MatMul", {model.weight({"n"})});
  EXPECT_EQ(model.elements(), 0);
}

}  // namespace
}  // namespace aaco::graph
