#include <array>

#include "graph/catalogue/costs.h"
#include "graph/catalogue/entry.h"

// The builtin operators of TFLite, by their names in its schema. Shapes come with the file; a fused activation is one operation
// more and not counted. FLOPs as in entries_standard.cc.
namespace aaco::graph {
namespace {

using Kind = OperatorClass;
namespace c = costs;

constexpr Entry each(std::string_view name, double flops) { return {name, Kind::elementwise, nullptr, &c::elementwise, flops}; }
constexpr Entry view(std::string_view name) { return {name, Kind::view, nullptr, &c::view, 0}; }
constexpr Entry copy(std::string_view name) { return {name, Kind::copy, nullptr, &c::moved, 0}; }
constexpr Entry reduction(std::string_view name, double flops) { return {name, Kind::reduction, nullptr, &c::reduced, flops}; }

constexpr auto kEntries = std::to_array<Entry>({
    each("ABS", 1),
    each("ADD", 1),
    each("ATAN2", 1),
    each("BITWISE_XOR", 1),
    each("CAST", 1),
    each("CEIL", 1),
    each("COS", 1),
    each("CUMSUM", 1),
    each("DIV", 1),
    each("ELU", 4),
    each("EQUAL", 1),
    each("EXP", 1),
    each("FLOOR", 1),
    each("FLOOR_DIV", 2),
    each("FLOOR_MOD", 3),
    each("GELU", 5),
    each("GREATER", 1),
    each("GREATER_EQUAL", 1),
    each("HARD_SWISH", 5),
    each("LEAKY_RELU", 2),
    each("LESS", 1),
    each("LESS_EQUAL", 1),
    each("LOG", 1),
    each("LOGICAL_AND", 1),
    each("LOGICAL_NOT", 1),
    each("LOGICAL_OR", 1),
    each("LOGISTIC", 4),
    each("MAXIMUM", 1),
    each("MINIMUM", 1),
    each("MUL", 1),
    each("NEG", 1),
    each("NOT_EQUAL", 1),
    each("POW", 1),
    each("PRELU", 2),
    each("RELU", 1),
    each("RELU6", 2),
    each("RELU_0_TO_1", 2),
    each("RELU_N1_TO_1", 2),
    each("RIGHT_SHIFT", 1),
    each("ROUND", 1),
    each("RSQRT", 2),
    each("SELECT", 1),
    each("SELECT_V2", 1),
    each("SIGN", 1),
    each("SIN", 1),
    each("SQRT", 1),
    each("SQUARE", 1),
    each("SQUARED_DIFFERENCE", 2),
    each("SUB", 1),
    each("TANH", 1),
    each("WHERE", 1),
    {"ADD_N", Kind::elementwise, nullptr, &c::accumulated, 0},

    {"CONV_2D", Kind::convolution, nullptr, &c::tflite_convolution, 0},
    {"DEPTHWISE_CONV_2D", Kind::depthwise, nullptr, &c::tflite_depthwise, 0},
    {"TRANSPOSE_CONV", Kind::convolution, nullptr, &c::tflite_transposed, 0},
    {"FULLY_CONNECTED", Kind::gemm, nullptr, &c::linear, 0},
    {"BATCH_MATMUL", Kind::gemm, nullptr, &c::matmul, 0},
    {"LSTM", Kind::recurrent, nullptr, &c::tflite_lstm, 0},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", Kind::recurrent, nullptr, &c::tflite_lstm, 0},

    {"AVERAGE_POOL_2D", Kind::pooling, nullptr, &c::pooled, 1},
    {"L2_POOL_2D", Kind::pooling, nullptr, &c::pooled, 2},
    {"MAX_POOL_2D", Kind::pooling, nullptr, &c::pooled, 1},
    {"RESIZE_BILINEAR", Kind::resize, nullptr, &c::resized, 1},
    {"RESIZE_NEAREST_NEIGHBOR", Kind::resize, nullptr, &c::resized, 0},
    {"L2_NORMALIZATION", Kind::normalisation, nullptr, &c::normalised, 3},
    {"LOCAL_RESPONSE_NORMALIZATION", Kind::normalisation, nullptr, &c::normalised, 8},
    {"SOFTMAX", Kind::softmax, nullptr, &c::normalised, 5},
    {"LOG_SOFTMAX", Kind::softmax, nullptr, &c::normalised, 5},

    reduction("ARG_MAX", 1),
    reduction("ARG_MIN", 1),
    reduction("MEAN", 1),
    reduction("REDUCE_ALL", 1),
    reduction("REDUCE_ANY", 1),
    reduction("REDUCE_MAX", 1),
    reduction("REDUCE_MIN", 1),
    reduction("REDUCE_PROD", 1),
    reduction("SUM", 1),

    view("EXPAND_DIMS"),
    view("RESHAPE"),
    view("SQUEEZE"),
    view("BITCAST"),
    copy("BATCH_TO_SPACE_ND"),
    copy("BROADCAST_TO"),
    copy("CONCATENATION"),
    copy("DEPTH_TO_SPACE"),
    copy("DYNAMIC_UPDATE_SLICE"),
    copy("MIRROR_PAD"),
    copy("PACK"),
    copy("PAD"),
    copy("PADV2"),
    copy("REVERSE_SEQUENCE"),
    copy("REVERSE_V2"),
    copy("SPACE_TO_BATCH_ND"),
    copy("SPACE_TO_DEPTH"),
    copy("SPLIT"),
    copy("SPLIT_V"),
    copy("TILE"),
    copy("TRANSPOSE"),
    copy("UNPACK"),
    copy("DENSIFY"),
    {"SLICE", Kind::copy, nullptr, &c::picked, 0},
    {"STRIDED_SLICE", Kind::copy, nullptr, &c::picked, 0},
    {"FILL", Kind::copy, nullptr, &c::created, 0},
    {"RANGE", Kind::copy, nullptr, &c::created, 2},
    {"ZEROS_LIKE", Kind::copy, nullptr, &c::created, 0},

    {"EMBEDDING_LOOKUP", Kind::gather, nullptr, &c::created, 0},
    {"GATHER", Kind::gather, nullptr, &c::picked, 0},
    {"GATHER_ND", Kind::gather, nullptr, &c::picked, 0},
    {"ONE_HOT", Kind::gather, nullptr, &c::moved, 0},
    {"SCATTER_ND", Kind::gather, nullptr, &c::moved, 0},
    {"SEGMENT_SUM", Kind::reduction, nullptr, &c::reduced, 1},
    {"TOPK_V2", Kind::sort, nullptr, &c::sorted, 0},
    {"UNIQUE", Kind::sort, nullptr, &c::sorted, 0},

    {"DEQUANTIZE", Kind::quantisation, nullptr, &c::elementwise, 2},
    {"FAKE_QUANT", Kind::quantisation, nullptr, &c::elementwise, 5},
    {"QUANTIZE", Kind::quantisation, nullptr, &c::elementwise, 5},
    {"RANDOM_STANDARD_NORMAL", Kind::rng, nullptr, &c::created, 4},
    {"RANDOM_UNIFORM", Kind::rng, nullptr, &c::created, 2},

    {"SHAPE", Kind::host, nullptr, &c::host, 0},
    {"RANK", Kind::host, nullptr, &c::host, 0},
    {"WHILE", Kind::control, nullptr, &c::view, 0},  // its body is counted node by node, once
    {"CALL_ONCE", Kind::control, nullptr, &c::view, 0},
    {"VAR_HANDLE", Kind::control, nullptr, &c::view, 0},
    {"READ_VARIABLE", Kind::view, nullptr, &c::view, 0},
    {"ASSIGN_VARIABLE", Kind::copy, nullptr, &c::moved, 0},
});

}  // namespace

std::span<const Entry> tflite_entries() { return kEntries; }

}  // namespace aaco::graph
