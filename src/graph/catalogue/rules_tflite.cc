#include "graph/catalogue/rules_tflite.h"

#include <algorithm>
#include <unordered_map>

#include "graph/catalogue/dims.h"

namespace aaco::graph::rules {
namespace lite {
namespace {

bool is_fixed(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dimension& dimension) { return dimension.fixed(); });
}

}  // namespace

void give(ShapeContext& c, std::size_t output, Shape shape) {
  if (output >= c.outputs() || !c.node().outputs[output].valid()) return;
  const auto& held = c.graph().tensor(c.node().outputs[output]).shape;
  if (!held || !is_fixed(*held)) c.set(output, std::move(shape), ElementType::unknown);
}

std::optional<std::int64_t> number_of(const ShapeContext& c, std::size_t input) {
  const auto held = c.ints(input);
  return held && held->size() == 1 ? std::optional(held->front()) : std::nullopt;
}

}  // namespace lite

namespace {

using namespace lite;

void as_input(ShapeContext& c) {
  if (const Shape* shape = c.shape(0)) give(c, 0, *shape);
}

void broadcast_all(ShapeContext& c) {
  std::optional<Shape> out = Shape{};
  for (std::size_t input = 0; input < c.inputs(); ++input) {
    if (c.shape(input) == nullptr) return;
    out = broadcast(*out, *c.shape(input));
    if (!out) return c.problem("the inputs cannot be broadcast");
  }
  give(c, 0, *std::move(out));
}

// One operand's shape is the answer's: SELECT(condition, x, y), whose condition may be of the first dimension alone.
void as_second(ShapeContext& c) {
  if (const Shape* shape = c.shape(1)) give(c, 0, *shape);
}

// How often a window of `reach` fits, each `stride` apart.
Dimension windows(const ShapeContext& c, const Dimension& size, std::int64_t reach, std::int64_t stride) {
  if (stride < 1) return {};
  if (c.node().string_or("auto_pad", "SAME_UPPER") != "VALID") return divide(add(size, stride - 1), stride);
  return add(divide(subtract(size, reach), stride), 1);
}

// Of [batch, spatial.., channels]; `kernel`: the window's sizes.
void slide(ShapeContext& c, const Shape& input, const std::vector<Dimension>& kernel, const Dimension& channels) {
  const Ints strides = c.node().ints_or("strides", Ints(kernel.size(), 1)),
             dilations = c.node().ints_or("dilations", Ints(kernel.size(), 1));
  if (input.size() != kernel.size() + 2 || strides.size() != kernel.size() || dilations.size() != kernel.size()) return;
  Shape out = {input[0]};
  for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
    std::int64_t reach = 0;
    if (!kernel[axis].fixed() || __builtin_mul_overflow(kernel[axis].size - 1, dilations[axis], &reach)) return;
    out.push_back(windows(c, input[axis + 1], reach + 1, strides[axis]));
  }
  out.push_back(channels);
  give(c, 0, std::move(out));
}

void convolve(ShapeContext& c) {
  const Shape *input = c.shape(0), *filter = c.shape(1);
  if (input == nullptr || filter == nullptr) return;
  if (filter->size() == 4) {
    const bool depthwise = c.node().op_type == "DEPTHWISE_CONV_2D";
    slide(c, *input, {(*filter)[1], (*filter)[2]}, (*filter)[depthwise ? 3 : 0]);
  } else if (filter->size() == 5) {
    slide(c, *input, {(*filter)[0], (*filter)[1], (*filter)[2]}, (*filter)[4]);
  }
}

void pool_2d(ShapeContext& c) {
  const Shape* input = c.shape(0);
  if (input == nullptr || input->size() != 4) return;
  slide(c, *input, {c.number("filter_height", 1), c.number("filter_width", 1)}, input->back());
}

void fully_connected(ShapeContext& c) {
  const Shape *input = c.shape(0), *weights = c.shape(1);
  if (input == nullptr || weights == nullptr || input->empty() || weights->size() != 2) return;
  const Dimension &units = (*weights)[0], &depth = (*weights)[1];
  const bool whole_rows = certainly_equal(input->back(), depth);
  if (whole_rows && c.number("keep_num_dims", 0) != 0) {
    Shape out = *input;
    out.back() = units;
    return give(c, 0, std::move(out));
  }
  const Dimension rows = whole_rows      ? product(std::span(*input).first(input->size() - 1))
                         : depth.fixed() ? divide(product(*input), depth.size)
                                         : Dimension{};
  give(c, 0, {rows, units});
}

void batch_matmul(ShapeContext& c) {
  if (c.shape(0) == nullptr || c.shape(1) == nullptr) return;
  Shape a = *c.shape(0), b = *c.shape(1);
  if (a.size() < 2 || b.size() < 2) return c.problem("an operand is not a matrix");
  if (c.number("adj_x", 0) != 0) std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (c.number("adj_y", 0) != 0) std::swap(b[b.size() - 1], b[b.size() - 2]);
  const Dimension m = a[a.size() - 2], n = b.back(), &k = a.back(), &other = b[b.size() - 2];
  if (k.fixed() && other.fixed() && k.size != other.size)
    return c.problem("incompatible operands: " + to_string(a) + " and " + to_string(b));
  auto lead = broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  if (!lead) return c.problem("the operands cannot be broadcast");
  lead->push_back(m);
  lead->push_back(n);
  give(c, 0, *std::move(lead));
}

void reduced_over(ShapeContext& c) {
  const Shape* input = c.shape(0);
  const auto axes = c.ints(1);
  if (input == nullptr || !axes) return;
  std::vector<bool> gone(input->size(), false);
  for (const std::int64_t axis : *axes) {
    const auto at = normal_axis(axis, input->size());
    if (!at) return c.problem("the axis is out of range");
    gone[*at] = true;
  }
  Shape out;
  for (std::size_t axis = 0; axis < input->size(); ++axis)
    if (!gone[axis])
      out.push_back((*input)[axis]);
    else if (c.number("keep_dims", 0) != 0)
      out.emplace_back(1);
  give(c, 0, std::move(out));
}

void sizes_of(ShapeContext& c) {
  const Shape* input = c.shape(0);
  if (input == nullptr) return;
  give(c, 0, {static_cast<std::int64_t>(input->size())});
  c.set_value(0, vector_value(*input));
}

void rank_of(ShapeContext& c) {
  if (const Shape* input = c.shape(0)) c.set_value(0, {{}, {Element(static_cast<double>(input->size()))}});
}

template <std::size_t kInput>
void as_numbers_say(ShapeContext& c) {
  if (const Value* wanted = c.value(kInput)) give(c, 0, shape_from(*wanted));
}

void resized_to(ShapeContext& c) {
  const Shape* input = c.shape(0);
  const Value* size = c.value(1);
  if (input == nullptr || input->size() != 4 || size == nullptr || size->elements.size() != 2) return;
  give(c, 0, {(*input)[0], size->elements[0].dimension(), size->elements[1].dimension(), (*input)[3]});
}

void largest(ShapeContext& c) {
  const Value* count = c.value(1);
  if (c.shape(0) == nullptr || c.shape(0)->empty() || count == nullptr || count->elements.size() != 1) return;
  Shape out = *c.shape(0);
  out.back() = count->elements[0].dimension();
  give(c, 0, out);
  give(c, 1, std::move(out));
}

// The units are the columns of the recurrent matrix, its second dimension (of a projection its rows).
template <std::size_t kRecurrent>
void as_input_with_units(ShapeContext& c) {
  const Shape *input = c.shape(0), *recurrent = c.shape(kRecurrent);
  if (input == nullptr || input->empty() || recurrent == nullptr || recurrent->size() != 2) return;
  Shape out = *input;
  out.back() = recurrent->back();
  give(c, 0, std::move(out));
}

void found_places(ShapeContext& c) {
  if (const Shape* input = c.shape(0)) give(c, 0, {Dimension{}, static_cast<std::int64_t>(input->size())});
}

const std::unordered_map<std::string_view, ShapeFunction>& table() {
  static const std::unordered_map<std::string_view, ShapeFunction> kTable = [] {
    std::unordered_map<std::string_view, ShapeFunction> rules = {{"CONV_2D", &convolve},
                                                                 {"DEPTHWISE_CONV_2D", &convolve},
                                                                 {"CONV_3D", &convolve},
                                                                 {"TRANSPOSE_CONV", &as_numbers_say<0>},
                                                                 {"CONV_3D_TRANSPOSE", &as_numbers_say<0>},
                                                                 {"AVERAGE_POOL_2D", &pool_2d},
                                                                 {"MAX_POOL_2D", &pool_2d},
                                                                 {"L2_POOL_2D", &pool_2d},
                                                                 {"FULLY_CONNECTED", &fully_connected},
                                                                 {"BATCH_MATMUL", &batch_matmul},
                                                                 {"RESHAPE", &reshaped},
                                                                 {"SQUEEZE", &squeezed},
                                                                 {"EXPAND_DIMS", &expand_dims},
                                                                 {"TRANSPOSE", &transposed},
                                                                 {"CONCATENATION", &concatenated},
                                                                 {"PACK", &packed},
                                                                 {"UNPACK", &unpacked},
                                                                 {"SPLIT", &split_evenly},
                                                                 {"SPLIT_V", &split_by_sizes},
                                                                 {"SLICE", &sliced},
                                                                 {"STRIDED_SLICE", &strided_slice},
                                                                 {"GATHER", &gathered},
                                                                 {"EMBEDDING_LOOKUP", &looked_up},
                                                                 {"SHAPE", &sizes_of},
                                                                 {"RANK", &rank_of},
                                                                 {"RANGE", &range},
                                                                 {"FILL", &as_numbers_say<0>},
                                                                 {"BROADCAST_TO", &as_numbers_say<1>},
                                                                 {"SCATTER_ND", &as_numbers_say<2>},
                                                                 {"TILE", &tiled},
                                                                 {"RESIZE_BILINEAR", &resized_to},
                                                                 {"RESIZE_NEAREST_NEIGHBOR", &resized_to},
                                                                 {"PAD", &padded},
                                                                 {"PADV2", &padded},
                                                                 {"MIRROR_PAD", &padded},
                                                                 {"SPACE_TO_DEPTH", &blocks},
                                                                 {"DEPTH_TO_SPACE", &blocks},
                                                                 {"TOPK_V2", &largest},
                                                                 {"SELECT", &as_second},
                                                                 {"UNIDIRECTIONAL_SEQUENCE_LSTM", &as_input_with_units<8>},
                                                                 {"UNIDIRECTIONAL_SEQUENCE_RNN", &as_input_with_units<2>},
                                                                 {"RNN", &as_input_with_units<2>},
                                                                 {"WHERE", &found_places}};
    for (const char* op :
         {"MEAN", "SUM", "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "ARG_MAX", "ARG_MIN"})
      rules.emplace(op, &reduced_over);
    for (const char* op : {"ADD",           "SUB",       "MUL",       "DIV",         "FLOOR_DIV",  "FLOOR_MOD",
                           "POW",           "EQUAL",     "NOT_EQUAL", "LESS",        "LESS_EQUAL", "GREATER",
                           "GREATER_EQUAL", "MINIMUM",   "MAXIMUM",   "LOGICAL_AND", "LOGICAL_OR", "SQUARED_DIFFERENCE",
                           "PRELU",         "SELECT_V2", "ATAN2",     "BITWISE_XOR", "RIGHT_SHIFT"})
      rules.emplace(op, &broadcast_all);
    for (const char* op : {"ABS",
                           "ADD_N",
                           "CAST",
                           "CEIL",
                           "COS",
                           "CUMSUM",
                           "DEQUANTIZE",
                           "DYNAMIC_UPDATE_SLICE",
                           "ELU",
                           "EXP",
                           "FAKE_QUANT",
                           "FLOOR",
                           "GELU",
                           "HARD_SWISH",
                           "L2_NORMALIZATION",
                           "LEAKY_RELU",
                           "LOCAL_RESPONSE_NORMALIZATION",
                           "LOG",
                           "LOGICAL_NOT",
                           "LOGISTIC",
                           "LOG_SOFTMAX",
                           "NEG",
                           "QUANTIZE",
                           "RELU",
                           "RELU6",
                           "RELU_0_TO_1",
                           "RELU_N1_TO_1",
                           "REVERSE_SEQUENCE",
                           "REVERSE_V2",
                           "ROUND",
                           "RSQRT",
                           "SIGN",
                           "SIN",
                           "SOFTMAX",
                           "SQRT",
                           "SQUARE",
                           "TANH",
                           "ZEROS_LIKE"})
      rules.emplace(op, &as_input);
    return rules;
  }();
  return kTable;
}

}  // namespace

void tflite(ShapeContext& c) {
  if (const auto found = table().find(c.node().op_type); found != table().end()) found->second(c);
}

}  // namespace aaco::graph::rules
