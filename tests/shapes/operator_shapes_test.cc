#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "graph/load.h"
#include "tests/shapes/runtime_shapes.h"

// One node at a time, in the operator sets where its definition changed.
namespace aaco {
namespace {

using graph::Attribute;
using graph::AttributeValue;
using graph::ElementType;
using graph::Graph;
using graph::Shape;
using graph::TensorId;
using Ints = std::vector<std::int64_t>;

struct Input {
  ElementType type = ElementType::float32;
  Ints dims;
  std::vector<std::byte> data;  // a constant's
  bool left_out = false;
  bool constant = false;
};

Input f(Ints dims) { return {ElementType::float32, std::move(dims), {}, false, false}; }
Input of(ElementType type, Ints dims) { return {type, std::move(dims), {}, false, false}; }
Input none() { return {ElementType::unknown, {}, {}, true, false}; }

template <class T>
Input constant(ElementType type, const std::vector<T>& values, bool scalar = false) {
  Input input{type, scalar ? Ints{} : Ints{static_cast<std::int64_t>(values.size())}, {}, false, true};
  input.data.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(input.data.data(), values.data(), input.data.size());
  return input;
}
Input c(const Ints& values) { return constant(ElementType::int64, values); }
Input scalar(std::int64_t value) { return constant(ElementType::int64, Ints{value}, true); }
Input reals(const std::vector<float>& values) { return constant(ElementType::float32, values); }
Input real(float value) { return constant(ElementType::float32, std::vector<float>{value}, true); }

struct Case {
  std::string op;  // "Conv", "com.microsoft.FusedMatMul"
  std::int64_t opset = 0;
  std::vector<Input> inputs;
  std::vector<Attribute> attributes = {};
  std::size_t outputs = 1;
};

AttributeValue n(std::int64_t value) { return value; }
AttributeValue text(const char* value) { return std::string(value); }

std::ostream& operator<<(std::ostream& out, const Case& item) {
  out << item.op << " of set " << item.opset << " with";
  for (const Input& input : item.inputs) out << " " << to_string(Shape(input.dims.begin(), input.dims.end()));
  return out;
}

Graph graph_of(const Case& item) {
  Graph graph;
  graph.name = "one";
  graph.format_version = item.opset > 22 ? 11 : item.opset > 20 ? 10 : 8;
  graph.opsets = {{"", item.opset}};
  graph::Node node;
  node.name = "node";
  const std::size_t dot = item.op.rfind('.');
  node.op_type = dot == std::string::npos ? item.op : item.op.substr(dot + 1);
  if (dot != std::string::npos) {
    node.domain = item.op.substr(0, dot);
    graph.opsets[node.domain] = 1;
  }
  node.attributes = item.attributes;
  for (const Input& input : item.inputs) {
    if (input.left_out) {
      node.inputs.emplace_back();
      continue;
    }
    const TensorId id =
        graph.add_tensor({"x" + std::to_string(node.inputs.size()), input.type, Shape(input.dims.begin(), input.dims.end())});
    node.inputs.push_back(id);
    if (!input.constant)
      graph.inputs.push_back(id);
    else
      graph.initializers.push_back({id, {input.data, std::nullopt}});
  }
  for (std::size_t number = 0; number < item.outputs; ++number)
    node.outputs.push_back(graph.add_tensor({"y" + std::to_string(number), ElementType::unknown, std::nullopt}));
  graph.outputs = node.outputs;
  graph.nodes.push_back(std::move(node));
  return graph;
}

constexpr auto kHalf = ElementType::float16;
constexpr auto kLong = ElementType::int64;
constexpr auto kInt = ElementType::int32;
constexpr auto kByte = ElementType::uint8;
constexpr auto kBool = ElementType::boolean;

std::vector<Case> layout_cases() {
  return {
      {"Reshape", 13, {f({2, 3, 4}), c({0, -1})}},
      {"Reshape", 14, {f({2, 0, 4}), c({0, 4, 2})}, {{"allowzero", n(1)}}},
      {"Flatten", 13, {f({2, 3, 4})}, {{"axis", n(2)}}},
      {"Flatten", 11, {f({2, 3, 4})}, {{"axis", n(-1)}}},
      {"Squeeze", 11, {f({1, 3, 1, 4})}, {{"axes", Ints{0, 2}}}},
      {"Squeeze", 13, {f({1, 3, 1, 4}), c({-2})}},
      {"Squeeze", 13, {f({1, 3, 1, 4})}},
      {"Unsqueeze", 11, {f({3, 4})}, {{"axes", Ints{0, 3}}}},
      {"Unsqueeze", 13, {f({3, 4}), c({-1, 0})}},
      {"Transpose", 13, {f({2, 3, 4})}},
      {"Transpose", 21, {f({2, 3, 4})}, {{"perm", Ints{1, 2, 0}}}},
      {"Concat", 13, {f({2, 3}), f({2, 5}), f({2, 1})}, {{"axis", n(-1)}}},
      {"Split", 11, {f({6, 4})}, {{"split", Ints{1, 5}}}, 2},
      {"Split", 13, {f({6, 4}), c({2, 4})}, {}, 2},
      {"Split", 18, {f({7, 4})}, {{"num_outputs", n(3)}}, 3},
      {"Slice", 9, {f({8, 6})}, {{"starts", Ints{1, -4}}, {"ends", Ints{100, -1}}, {"axes", Ints{0, 1}}}},
      {"Slice", 13, {f({8, 6}), c({7, 0}), c({INT64_MIN, 5}), c({0, 1}), c({-2, 2})}},
      {"Slice", 13, {f({8, 6}), c({9}), c({12}), c({0})}},
      {"Pad", 10, {f({2, 3})}, {{"pads", Ints{0, 1, 2, 3}}}},
      {"Pad", 13, {f({2, 3}), c({0, 1, 2, -1})}},
      {"Pad", 18, {f({2, 3, 4}), c({1, 2, 3, 4}), none(), c({2, 0})}},
      {"Expand", 13, {f({3, 1}), c({2, 1, 6})}},
      {"Tile", 13, {f({2, 3}), c({3, 2})}},
      {"Gather", 13, {f({5, 4, 3}), of(kLong, {2, 2})}, {{"axis", n(1)}}},
      {"Gather", 11, {f({5, 4}), scalar(1)}, {{"axis", n(-1)}}},
      {"GatherElements", 13, {f({5, 4}), of(kLong, {2, 4})}},
      {"GatherND", 13, {f({5, 4, 3}), of(kLong, {7, 2})}},
      {"GatherND", 13, {f({2, 4, 3}), of(kLong, {2, 1})}, {{"batch_dims", n(1)}}},
      {"ScatterND", 16, {f({5, 4}), of(kLong, {2, 1}), f({2, 4})}},
      {"ScatterElements", 18, {f({5, 4}), of(kLong, {2, 4}), f({2, 4})}, {{"reduction", text("add")}}},
      {"DepthToSpace", 13, {f({1, 8, 3, 4})}, {{"blocksize", n(2)}}},
      {"SpaceToDepth", 13, {f({1, 2, 6, 4})}, {{"blocksize", n(2)}}},
      {"ConstantOfShape", 9, {c({2, 3})}},
      {"Range", 11, {scalar(3), scalar(20), scalar(4)}},
      {"Range", 11, {real(0), real(1), real(0.3F)}},
      {"OneHot", 11, {of(kLong, {2, 3}), scalar(7), reals({0, 1})}},
      {"OneHot", 11, {of(kLong, {2, 3}), scalar(7), reals({0, 1})}, {{"axis", n(0)}}},
      {"Shape", 15, {f({2, 3, 4})}, {{"start", n(1)}}},
      {"Shape", 13, {f({2, 3, 4})}},
      {"Size", 13, {f({2, 3, 4})}},
      {"EyeLike", 9, {f({3, 4})}, {{"dtype", n(7)}}},
      {"Trilu", 14, {f({3, 4})}},
      {"CenterCropPad", 18, {f({8, 6, 3}), c({4, 10})}, {{"axes", Ints{0, 1}}}},
      {"Identity", 16, {f({3, 4})}},
      {"Cast", 13, {f({3, 4})}, {{"to", n(10)}}},
      {"CastLike", 15, {f({3, 4}), of(kLong, {1})}},
      {"ReverseSequence", 10, {f({4, 2}), of(kLong, {2})}},
      {"Col2Im", 18, {f({1, 18, 16}), c({6, 6}), c({3, 3})}},
  };
}

std::vector<Case> window_cases() {
  const Attribute three{"kernel_shape", Ints{3, 3}};
  return {
      {"Conv", 11, {f({2, 6, 9, 10}), f({4, 3, 3, 3})}, {{"group", n(2)}, {"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 1, 2}}}},
      {"Conv", 22, {f({2, 3, 9, 10}), f({4, 3, 3, 2}), f({4})}, {{"dilations", Ints{2, 3}}}},
      {"Conv", 11, {f({2, 3, 9, 10}), f({4, 3, 3, 3})}, {{"auto_pad", text("SAME_UPPER")}, {"strides", Ints{2, 2}}}},
      {"Conv", 11, {f({2, 3, 9, 10}), f({4, 3, 3, 3})}, {{"auto_pad", text("VALID")}, {"strides", Ints{2, 2}}}},
      {"Conv", 11, {f({2, 3, 50}), f({4, 3, 5})}, {{"pads", Ints{2, 2}}}},
      {"Conv", 11, {f({1, 2, 5, 6, 7}), f({4, 2, 2, 2, 2})}},
      {"ConvTranspose",
       11,
       {f({1, 3, 5, 6}), f({3, 2, 3, 3})},
       {{"strides", Ints{2, 2}}, {"output_padding", Ints{1, 0}}, {"pads", Ints{1, 1, 1, 1}}}},
      {"ConvTranspose", 11, {f({1, 4, 5, 6}), f({4, 2, 3, 3})}, {{"group", n(2)}, {"dilations", Ints{2, 2}}}},
      {"ConvTranspose", 11, {f({1, 3, 5, 6}), f({3, 2, 3, 3})}, {{"auto_pad", text("SAME_LOWER")}, {"strides", Ints{2, 3}}}},
      {"ConvInteger", 10, {of(kByte, {1, 3, 8, 8}), of(kByte, {4, 3, 3, 3})}},
      {"QLinearConv",
       10,
       {of(kByte, {1, 3, 8, 8}), real(1), constant(kByte, std::vector<std::uint8_t>{0}, true), of(kByte, {4, 3, 3, 3}), real(1),
        constant(kByte, std::vector<std::uint8_t>{0}, true), real(1), constant(kByte, std::vector<std::uint8_t>{0}, true)}},
      {"MaxPool", 8, {f({1, 3, 8, 9})}, {three}},
      {"MaxPool", 12, {f({1, 3, 8, 9})}, {three, {"strides", Ints{2, 2}}, {"ceil_mode", n(1)}}, 2},
      {"MaxPool", 12, {f({1, 3, 8, 9})}, {three, {"dilations", Ints{2, 2}}}},
      {"MaxPool", 12, {f({1, 3, 10, 10})}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{3, 3}}, {"ceil_mode", n(1)}}},
      {"AveragePool", 7, {f({1, 3, 8, 9})}, {three, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}},
      {"AveragePool", 10, {f({1, 3, 8, 9})}, {three, {"strides", Ints{2, 2}}, {"ceil_mode", n(1)}}},
      {"AveragePool", 19, {f({1, 3, 20, 21})}, {three, {"dilations", Ints{2, 3}}, {"strides", Ints{2, 2}}}},
      {"AveragePool", 11, {f({1, 3, 8, 9})}, {three, {"auto_pad", text("SAME_UPPER")}, {"strides", Ints{2, 2}}}},
      {"LpPool", 18, {f({1, 3, 8, 9})}, {three}},
      {"GlobalAveragePool", 1, {f({2, 3, 8, 9})}},
      {"GlobalMaxPool", 1, {f({2, 3, 8, 9})}},
      {"MaxRoiPool", 1, {f({1, 3, 20, 20}), f({5, 5})}, {{"pooled_shape", Ints{2, 3}}}},
      {"RoiAlign", 16, {f({1, 3, 20, 20}), f({5, 4}), of(kLong, {5})}, {{"output_height", n(2)}, {"output_width", n(3)}}},
      {"MaxUnpool", 11, {f({1, 1, 2, 2}), of(kLong, {1, 1, 2, 2})}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}},
      {"Resize", 10, {f({1, 3, 8, 9}), reals({1, 1, 2, 1.5F})}},
      {"Resize", 11, {f({1, 3, 8, 9}), reals({}), reals({}), c({1, 3, 16, 5})}},
      {"Resize", 13, {f({1, 3, 8, 9}), none(), reals({1, 1, 0.6F, 2.3F})}},
      {"Resize", 18, {f({1, 3, 8, 9}), none(), none(), c({16, 18})}, {{"axes", Ints{2, 3}}}},
      {"Resize",
       18,
       {f({1, 3, 8, 12}), none(), none(), c({16, 12})},
       {{"axes", Ints{2, 3}}, {"keep_aspect_ratio_policy", text("not_larger")}}},
      {"Upsample", 9, {f({1, 3, 8, 9}), reals({1, 1, 2, 2})}},
      {"GridSample", 16, {f({1, 3, 8, 9}), f({1, 5, 6, 2})}},
      {"AffineGrid", 20, {f({2, 2, 3}), c({2, 3, 5, 6})}},
  };
}

std::vector<Case> arithmetic_cases() {
  return {
      {"Add", 14, {f({3, 1, 5}), f({4, 1})}},
      {"Add", 7, {f({3, 4}), f({4})}},
      {"Less", 13, {f({3, 4}), f({1})}},
      {"Where", 16, {of(kBool, {3, 1}), f({1, 4}), f({1})}},
      {"Max", 13, {f({3, 1}), f({4}), f({2, 1, 1})}},
      {"Mod", 13, {of(kLong, {3, 4}), of(kLong, {4})}},
      {"BitShift", 11, {of(kByte, {3}), of(kByte, {3})}, {{"direction", text("LEFT")}}},
      {"Gelu", 20, {f({3, 4})}},
      {"HardSwish", 14, {f({3, 4})}},
      {"Mish", 18, {f({3, 4})}},
      {"PRelu", 16, {f({2, 3, 4}), f({3, 1})}},
      {"Clip", 6, {f({3, 4})}},
      {"Clip", 13, {f({3, 4}), real(0), real(6)}},
      {"Dropout", 7, {f({3, 4})}, {}, 2},
      {"Dropout", 13, {f({3, 4})}, {}, 2},
      {"IsNaN", 13, {f({3, 4})}},
      {"Softmax", 13, {f({3, 4})}},
      {"LogSoftmax", 11, {f({3, 4})}},
      {"CumSum", 14, {f({3, 4}), scalar(0)}},
      {"BatchNormalization", 9, {f({2, 3, 4, 5}), f({3}), f({3}), f({3}), f({3})}},
      {"BatchNormalization", 15, {f({2, 3, 4, 5}), f({3}), f({3}), f({3}), f({3})}},
      {"InstanceNormalization", 6, {f({2, 3, 4, 5}), f({3}), f({3})}},
      {"LayerNormalization", 17, {f({2, 3, 8}), f({8}), f({8})}, {}, 3},
      {"LayerNormalization", 17, {f({2, 3, 8}), f({3, 8})}, {{"axis", n(1)}}},
      {"GroupNormalization", 21, {f({2, 6, 4, 4}), f({6}), f({6})}, {{"num_groups", n(3)}}},
      {"RMSNormalization", 23, {f({2, 3, 8}), f({8})}},
      {"LRN", 13, {f({1, 3, 4, 4})}, {{"size", n(3)}}},
      {"LpNormalization", 1, {f({3, 4})}},
      {"ReduceMean", 13, {f({2, 3, 4})}, {{"axes", Ints{-1}}, {"keepdims", n(0)}}},
      {"ReduceMean", 18, {f({2, 3, 4}), c({1})}},
      {"ReduceSum", 13, {f({2, 3, 4}), c({0, 2})}, {{"keepdims", n(0)}}},
      {"ReduceSum", 13, {f({2, 3, 4})}, {{"keepdims", n(0)}}},
      {"ReduceSum", 13, {f({2, 3, 4}), c({})}, {{"noop_with_empty_axes", n(1)}}},
      {"ReduceL2", 18, {f({2, 3, 4}), c({0})}},
      {"ReduceMax", 20, {f({2, 3, 4})}},
      {"ArgMax", 13, {f({2, 3, 4})}, {{"axis", n(1)}, {"keepdims", n(0)}}},
      {"TopK", 11, {f({2, 9}), c({4})}, {}, 2},
      {"TopK", 10, {f({9, 2}), c({4})}, {{"axis", n(0)}}, 2},
      {"QuantizeLinear", 13, {f({2, 3}), real(1), constant(kByte, std::vector<std::uint8_t>{3}, true)}},
      {"QuantizeLinear", 10, {f({2, 3}), real(1)}},
      {"DequantizeLinear", 13, {of(ElementType::int8, {2, 3}), real(1)}},
      {"DequantizeLinear", 21, {of(ElementType::int8, {4, 6}), f({2, 6})}, {{"axis", n(0)}, {"block_size", n(2)}}},
      {"DynamicQuantizeLinear", 11, {f({2, 3})}, {}, 3},
      {"RandomNormalLike", 1, {f({2, 3})}},
      {"RandomUniform", 1, {}, {{"shape", Ints{2, 3}}}},
      {"Bernoulli", 15, {f({2, 3})}, {{"dtype", n(9)}}},
      {"Multinomial", 7, {f({2, 9})}, {{"sample_size", n(5)}}},
      {"HannWindow", 17, {scalar(16)}},
      {"DFT", 17, {f({1, 16, 1}), scalar(20)}, {{"axis", n(1)}}},
      {"DFT", 20, {f({1, 16, 1}), none(), scalar(1)}, {{"onesided", n(1)}}},
      {"STFT", 17, {f({1, 128, 1}), scalar(8), none(), scalar(16)}},
      {"MelWeightMatrix", 17, {scalar(8), scalar(32), scalar(8000), real(0), real(4000)}},
      {"NegativeLogLikelihoodLoss", 13, {f({3, 5}), of(kLong, {3})}, {{"reduction", text("none")}}},
      {"SoftmaxCrossEntropyLoss", 13, {f({3, 5, 2}), of(kLong, {3, 2})}, {}, 2},
      {"Det", 11, {f({2, 3, 3})}},
  };
}

std::vector<Case> product_cases() {
  return {
      {"MatMul", 13, {f({2, 1, 3, 4}), f({5, 4, 6})}},
      {"MatMul", 9, {f({4}), f({4, 6})}},
      {"MatMul", 13, {f({3, 4}), f({4})}},
      {"MatMul", 13, {of(kHalf, {3, 4}), of(kHalf, {4, 5})}},
      {"Gemm", 13, {f({4, 3}), f({5, 4}), f({5})}, {{"transA", n(1)}, {"transB", n(1)}}},
      {"MatMulInteger", 10, {of(kByte, {2, 3}), of(kByte, {3, 4})}},
      {"Einsum", 12, {f({2, 3, 4}), f({2, 4, 5})}, {{"equation", text("bij,bjk->bik")}}},
      {"Einsum", 12, {f({2, 3, 4}), f({4, 5})}, {{"equation", text("...j,jk")}}},
      {"Einsum", 12, {f({3, 3})}, {{"equation", text("ii->i")}}},
      {"LSTM",
       14,
       {f({5, 2, 3}), f({2, 16, 3}), f({2, 16, 4})},
       {{"hidden_size", n(4)}, {"direction", text("bidirectional")}},
       3},
      {"GRU", 14, {f({5, 2, 3}), f({1, 12, 3}), f({1, 12, 4})}, {{"hidden_size", n(4)}}, 2},
      {"RNN", 14, {f({5, 2, 3}), f({1, 4, 3}), f({1, 4, 4})}, {{"hidden_size", n(4)}}, 2},
      {"Attention", 23, {f({2, 8, 5, 16}), f({2, 4, 7, 16}), f({2, 4, 7, 12})}},
      {"Attention", 23, {f({2, 5, 64}), f({2, 7, 32}), f({2, 7, 32})}, {{"q_num_heads", n(8)}, {"kv_num_heads", n(4)}}},
      {"Attention",
       23,
       {f({2, 4, 1, 16}), f({2, 4, 1, 16}), f({2, 4, 1, 16}), none(), f({2, 4, 9, 16}), f({2, 4, 9, 16})},
       {},
       3},
      {"RotaryEmbedding", 23, {f({2, 4, 3, 8}), f({3, 4}), f({3, 4}), of(kLong, {2, 3})}},
  };
}

std::vector<Case> microsoft_cases() {
  const auto ms = [](const char* name) { return std::string("com.microsoft.") + name; };
  const Attribute heads{"num_heads", n(4)};
  return {
      {ms("FusedMatMul"), 17, {f({2, 3, 4}), f({2, 5, 4})}, {{"transB", n(1)}}},
      {ms("FusedGemm"), 17, {f({3, 4}), f({4, 5}), f({5})}, {{"activation", text("Relu")}}},
      {ms("FusedConv"), 17, {f({1, 3, 8, 8}), f({4, 3, 3, 3})}, {{"activation", text("Relu")}}},
      {ms("Gelu"), 17, {f({3, 4})}},
      {ms("FastGelu"), 17, {f({3, 4}), f({4})}},
      {ms("BiasGelu"), 17, {f({3, 4}), f({4})}},
      {ms("QuickGelu"), 17, {f({3, 4})}},
      {ms("SkipLayerNormalization"), 17, {f({2, 3, 8}), f({2, 3, 8}), f({8}), f({8})}, {}, 4},
      {ms("SkipSimplifiedLayerNormalization"), 17, {f({2, 3, 8}), f({2, 3, 8}), f({8})}},
      {"SimplifiedLayerNormalization", 17, {f({2, 3, 8}), f({8})}},
      {ms("EmbedLayerNormalization"),
       17,
       {of(kInt, {2, 5}), of(kInt, {2, 5}), f({30, 8}), f({10, 8}), f({2, 8}), f({8}), f({8})},
       {},
       2},
      {ms("Attention"), 17, {f({2, 5, 16}), f({16, 48}), f({48})}, {heads}},
      {ms("Attention"), 17, {f({2, 5, 16}), f({16, 48}), f({48}), none(), f({2, 2, 4, 3, 4})}, {heads}, 2},
      {ms("MultiHeadAttention"), 17, {f({2, 5, 16}), f({2, 7, 16}), f({2, 7, 16})}, {heads}},
      {ms("MultiHeadAttention"), 17, {f({2, 5, 4, 3, 4})}, {heads}},
      {ms("GroupQueryAttention"),
       17,
       {f({2, 1, 32}), f({2, 1, 16}), f({2, 1, 16}), f({2, 2, 9, 8}), f({2, 2, 9, 8}), of(kInt, {2}),
        constant(kInt, std::vector<std::int32_t>{10}, true)},
       {heads, {"kv_num_heads", n(2)}},
       3},
      {ms("RotaryEmbedding"), 17, {f({2, 3, 32}), of(kLong, {2, 3}), f({10, 4}), f({10, 4})}},
      {ms("MatMulNBits"),
       17,
       {f({2, 3, 64}), of(kByte, {10, 2, 16}), f({20})},
       {{"K", n(64)}, {"N", n(10)}, {"bits", n(4)}, {"block_size", n(32)}}},
      {ms("DynamicQuantizeMatMul"), 17, {f({3, 4}), of(kByte, {4, 5}), f({1})}},
      {ms("MatMulIntegerToFloat"), 17, {of(kByte, {3, 4}), of(kByte, {4, 5}), f({1}), f({1})}},
      {ms("QLinearAdd"),
       17,
       {of(kByte, {3, 4}), real(1), constant(kByte, std::vector<std::uint8_t>{0}, true), of(kByte, {4}), real(1),
        constant(kByte, std::vector<std::uint8_t>{0}, true), real(1), constant(kByte, std::vector<std::uint8_t>{0}, true)}},
      {ms("Inverse"), 17, {f({2, 3, 3})}},
      {ms("GridSample"), 17, {f({1, 3, 8, 9}), f({1, 5, 6, 2})}},
      {ms("Trilu"), 17, {f({3, 4})}},
      {ms("GatherND"), 17, {f({5, 4, 3}), of(kLong, {7, 2})}},
      {ms("QuantizeLinear"), 17, {f({2, 3}), real(1), constant(kByte, std::vector<std::uint8_t>{3}, true)}},
      {ms("NhwcMaxPool"), 17, {of(kByte, {1, 8, 9, 3})}, {{"kernel_shape", Ints{3, 3}}}},
  };
}

class OperatorShapes : public testing::TestWithParam<Case> {};

TEST_P(OperatorShapes, AreThoseOfOnnxRuntime) {
  static const auto kRuntime = open_runtime();
  if (kRuntime == nullptr) GTEST_SKIP() << "skipped, no ONNX Runtime library here";
  const auto model = graph::prepare(graph_of(GetParam()));
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_TRUE(model->shapes.problems.empty()) << model->shapes.problems[0];
  const ShapeComparison comparison = compare_shapes(*kRuntime, model->graph);
  // An operator without a kernel on the CPU is no case of this test.
  ASSERT_EQ(comparison.error, "");
  EXPECT_GT(comparison.compared + comparison.runtime_unknown, 0);
  for (const std::string& difference : comparison.different) ADD_FAILURE() << difference;
  EXPECT_EQ(model->shapes.symbolic + model->shapes.unknown, 0) << "the catalogue leaves a shape open";
}

INSTANTIATE_TEST_SUITE_P(Layout, OperatorShapes, testing::ValuesIn(layout_cases()));
INSTANTIATE_TEST_SUITE_P(Windows, OperatorShapes, testing::ValuesIn(window_cases()));
INSTANTIATE_TEST_SUITE_P(Arithmetic, OperatorShapes, testing::ValuesIn(arithmetic_cases()));
INSTANTIATE_TEST_SUITE_P(Products, OperatorShapes, testing::ValuesIn(product_cases()));
INSTANTIATE_TEST_SUITE_P(Microsoft, OperatorShapes, testing::ValuesIn(microsoft_cases()));

}  // namespace
}  // namespace aaco
