#include <array>

#include "graph/catalogue/costs.h"
#include "graph/catalogue/entry.h"
#include "graph/catalogue/rules.h"

// ai.onnx, every operator set from 7 to 24 (Operators.md of the ONNX project), with what remains of older ones in real files.
// FLOPs an element count the operations of the operator's definition there: each arithmetic operation, comparison and elementary
// function (exp, log, sqrt, erf, tanh, ...) is one.
namespace aaco::graph {
namespace {

using Kind = OperatorClass;
namespace r = rules;
namespace c = costs;

constexpr auto kStandardEntries = std::to_array<Entry>({
    // One operand, element by element.
    {"Abs", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Acos", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Acosh", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Asin", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Asinh", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Atan", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Atanh", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"BitwiseNot", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Ceil", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Celu", Kind::elementwise, &r::same, &c::elementwise, 6},
    {"Clip", Kind::elementwise, &r::same, &c::elementwise, 2},
    {"Cos", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Cosh", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Elu", Kind::elementwise, &r::same, &c::elementwise, 4},
    {"Erf", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Exp", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Floor", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Gelu", Kind::elementwise, &r::same, &c::elementwise, 5},  // x/2 (1 + erf(x / sqrt 2))
    {"HardSigmoid", Kind::elementwise, &r::same, &c::elementwise, 4},
    {"HardSwish", Kind::elementwise, &r::same, &c::elementwise, 5},
    {"IsInf", Kind::elementwise, &r::same_boolean, &c::elementwise, 1},
    {"IsNaN", Kind::elementwise, &r::same_boolean, &c::elementwise, 1},
    {"LeakyRelu", Kind::elementwise, &r::same, &c::elementwise, 2},
    {"Log", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Mish", Kind::elementwise, &r::same, &c::elementwise, 5},
    {"Neg", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Not", Kind::elementwise, &r::same_boolean, &c::elementwise, 1},
    {"Reciprocal", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Relu", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Round", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Selu", Kind::elementwise, &r::same, &c::elementwise, 5},
    {"Shrink", Kind::elementwise, &r::same, &c::elementwise, 3},
    {"Sigmoid", Kind::elementwise, &r::same, &c::elementwise, 4},  // 1 / (1 + exp(-x))
    {"Sign", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Sin", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Sinh", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Softplus", Kind::elementwise, &r::same, &c::elementwise, 3},
    {"Softsign", Kind::elementwise, &r::same, &c::elementwise, 3},
    {"Sqrt", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Swish", Kind::elementwise, &r::same, &c::elementwise, 5},
    {"Tan", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Tanh", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"ThresholdedRelu", Kind::elementwise, &r::same, &c::elementwise, 1},
    {"Dropout", Kind::view, &r::dropout, &c::view, 0},  // inference: the input itself
    {"Cast", Kind::elementwise, &r::cast, &c::elementwise, 1},
    {"CastLike", Kind::elementwise, &r::cast_like, &c::elementwise, 1},
    {"CumSum", Kind::reduction, &r::same, &c::elementwise, 1},
    {"CumProd", Kind::reduction, &r::same, &c::elementwise, 1},
    {"ReverseSequence", Kind::copy, &r::same, &c::moved, 0},
    {"Trilu", Kind::copy, &r::same, &c::moved, 0},

    // Two operands and more, broadcast.
    {"Add", Kind::elementwise, &r::spread, &c::elementwise, 1},
    {"And", Kind::elementwise, &r::spread_boolean, &c::elementwise, 1},
    {"BitShift", Kind::elementwise, &r::spread, &c::elementwise, 1},
    {"BitwiseAnd", Kind::elementwise, &r::spread, &c::elementwise, 1},
    {"BitwiseOr", Kind::elementwise, &r::spread, &c::elementwise, 1},
    {"BitwiseXor", Kind::elementwise, &r::spread, &c::elementwise, 1},
    {"Div", Kind::elementwise, &r::spread, &c::elementwise, 1},
    {"Equal", Kind::elementwise, &r::spread_boolean, &c::elementwise, 1},
    {"Greater", Kind::elementwise, &r::spread_boolean, &c::elementwise, 1},
    {"GreaterOrEqual", Kind::elementwise, &r::spread_boolean, &c::elementwise, 1},
    {"Less", Kind::elementwise, &r::spread_boolean, &c::elementwise, 1},
    {"LessOrEqual", Kind::elementwise, &r::spread_boolean, &c::elementwise, 1},
    {"Max", Kind::elementwise, &r::spread, &c::accumulated, 0},
    {"Mean", Kind::elementwise, &r::spread, &c::accumulated, 1},
    {"Min", Kind::elementwise, &r::spread, &c::accumulated, 0},
    {"Mod", Kind::elementwise, &r::spread, &c::elementwise, 3},
    {"Mul", Kind::elementwise, &r::spread, &c::elementwise, 1},
    {"Or", Kind::elementwise, &r::spread_boolean, &c::elementwise, 1},
    {"PRelu", Kind::elementwise, &r::same, &c::elementwise, 2},
    {"Pow", Kind::elementwise, &r::spread, &c::elementwise, 1},
    {"Sub", Kind::elementwise, &r::spread, &c::elementwise, 1},
    {"Sum", Kind::elementwise, &r::spread, &c::accumulated, 0},
    {"Where", Kind::elementwise, &r::where, &c::elementwise, 1},
    {"Xor", Kind::elementwise, &r::spread_boolean, &c::elementwise, 1},

    // Normalisation, softmax: passes over the rows, an element each.
    {"BatchNormalization", Kind::normalisation, &r::batch_normalise, &c::normalised, 2},  // one factor and one offset a channel
    {"GroupNormalization", Kind::normalisation, &r::same, &c::normalised, 7},
    {"InstanceNormalization", Kind::normalisation, &r::same, &c::normalised, 7},
    {"LayerNormalization", Kind::normalisation, &r::normalise, &c::normalised, 7},  // mean, -, ^2, mean, /, x scale, + bias
    {"RMSNormalization", Kind::normalisation, &r::normalise, &c::normalised, 4},    // ^2, mean, /, x scale
    {"LRN", Kind::normalisation, &r::same, &c::normalised, 8},
    {"LpNormalization", Kind::normalisation, &r::same, &c::normalised, 3},
    {"MeanVarianceNormalization", Kind::normalisation, &r::same, &c::normalised, 5},
    {"Hardmax", Kind::softmax, &r::same, &c::normalised, 2},
    {"LogSoftmax", Kind::softmax, &r::same, &c::normalised, 5},
    {"Softmax", Kind::softmax, &r::same, &c::normalised, 5},  // max, -, exp, sum, /
    {"SoftmaxCrossEntropyLoss", Kind::softmax, &r::cross_entropy, &c::normalised, 6},
    {"NegativeLogLikelihoodLoss", Kind::gather, &r::cross_entropy, &c::moved, 0},

    // Products.
    {"MatMul", Kind::gemm, &r::matmul, &c::matmul, 0},
    {"MatMulInteger", Kind::gemm, &r::matmul_integer, &c::matmul, 0},
    {"QLinearMatMul", Kind::gemm, &r::quantised_matmul, &c::matmul_quantised, 3},  // and one requantisation an element
    {"Gemm", Kind::gemm, &r::gemm, &c::gemm, 0},
    {"Einsum", Kind::gemm, &r::einsum, &c::einsum, 0},
    {"Conv", Kind::convolution, &r::convolution, &c::convolution, 0},
    {"ConvInteger", Kind::convolution, &r::convolution_integer, &c::convolution, 0},
    {"ConvTranspose", Kind::convolution, &r::convolution_transposed, &c::convolution_transposed, 0},
    {"QLinearConv", Kind::convolution, &r::quantised_convolution, &c::convolution_quantised, 3},
    {"DeformConv", Kind::convolution, &r::convolution, &c::convolution, 0},
    {"Attention", Kind::attention, &r::attention_standard, &c::attention_standard, 0},
    {"GRU", Kind::recurrent, &r::recurrent, &c::recurrent, 0},
    {"LSTM", Kind::recurrent, &r::recurrent, &c::recurrent, 0},
    {"RNN", Kind::recurrent, &r::recurrent, &c::recurrent, 0},
    {"RotaryEmbedding", Kind::elementwise, &r::same, &c::elementwise, 3},  // two products and a sum
    {"Det", Kind::gemm, &r::determinant, nullptr, 0},

    // Pooling.
    {"AveragePool", Kind::pooling, &r::pool, &c::pooled, 1},
    {"GlobalAveragePool", Kind::pooling, &r::global_pool, &c::pooled_globally, 1},
    {"GlobalLpPool", Kind::pooling, &r::global_pool, &c::pooled_globally, 2},
    {"GlobalMaxPool", Kind::pooling, &r::global_pool, &c::pooled_globally, 1},
    {"LpPool", Kind::pooling, &r::pool, &c::pooled, 2},
    {"MaxPool", Kind::pooling, &r::pool, &c::pooled, 1},
    {"MaxRoiPool", Kind::pooling, &r::roi_pool, &c::sampled, 0},
    {"MaxUnpool", Kind::pooling, &r::unpool, &c::moved, 0},
    {"RoiAlign", Kind::pooling, &r::roi_pool, &c::sampled, 0},
    {"Resize", Kind::resize, &r::resize, &c::resized, 0},
    {"Upsample", Kind::resize, &r::resize, &c::resized, 0},
    {"GridSample", Kind::resize, &r::grid_sample, &c::sampled, 0},
    {"AffineGrid", Kind::gemm, &r::affine_grid, &c::created, 6},

    // Reductions: operations an element of the input.
    {"ArgMax", Kind::reduction, &r::arg_reduce, &c::reduced, 1},
    {"ArgMin", Kind::reduction, &r::arg_reduce, &c::reduced, 1},
    {"ReduceL1", Kind::reduction, &r::reduce, &c::reduced, 2},
    {"ReduceL2", Kind::reduction, &r::reduce, &c::reduced, 2},
    {"ReduceLogSum", Kind::reduction, &r::reduce, &c::reduced, 1},
    {"ReduceLogSumExp", Kind::reduction, &r::reduce, &c::reduced, 2},
    {"ReduceMax", Kind::reduction, &r::reduce, &c::reduced, 1},
    {"ReduceMean", Kind::reduction, &r::reduce, &c::reduced, 1},
    {"ReduceMin", Kind::reduction, &r::reduce, &c::reduced, 1},
    {"ReduceProd", Kind::reduction, &r::reduce, &c::reduced, 1},
    {"ReduceSum", Kind::reduction, &r::reduce, &c::reduced, 1},
    {"ReduceSumSquare", Kind::reduction, &r::reduce, &c::reduced, 2},

    // Views and copies.
    {"Flatten", Kind::view, &r::flatten, &c::view, 0},
    {"Identity", Kind::view, &r::same, &c::view, 0},
    {"Reshape", Kind::view, &r::reshape, &c::view, 0},
    {"Squeeze", Kind::view, &r::squeeze, &c::view, 0},
    {"Unsqueeze", Kind::view, &r::unsqueeze, &c::view, 0},
    {"Concat", Kind::copy, &r::concat, &c::moved, 0},
    {"DepthToSpace", Kind::copy, &r::depth_to_space, &c::moved, 0},
    {"Expand", Kind::copy, &r::expand, &c::moved, 0},
    {"Pad", Kind::copy, &r::pad, &c::moved, 0},
    {"Slice", Kind::copy, &r::slice, &c::picked, 0},
    {"SpaceToDepth", Kind::copy, &r::space_to_depth, &c::moved, 0},
    {"Split", Kind::copy, &r::split, &c::moved, 0},
    {"Tile", Kind::copy, &r::tile, &c::moved, 0},
    {"Transpose", Kind::copy, &r::transpose, &c::moved, 0},
    {"CenterCropPad", Kind::copy, &r::crop_pad, &c::moved, 0},
    {"Col2Im", Kind::copy, &r::col2im, &c::elementwise, 1},

    // Indexed reads and writes.
    {"Compress", Kind::gather, &r::compress, &c::picked, 0},
    {"Gather", Kind::gather, &r::gather, &c::picked, 0},
    {"GatherElements", Kind::gather, &r::gather_elements, &c::picked, 0},
    {"GatherND", Kind::gather, &r::gather_nd, &c::picked, 0},
    {"NonZero", Kind::gather, &r::non_zero, &c::moved, 0},
    {"OneHot", Kind::gather, &r::one_hot, &c::moved, 0},
    {"Scatter", Kind::gather, &r::same, &c::scattered, 0},
    {"ScatterElements", Kind::gather, &r::same, &c::scattered, 0},
    {"ScatterND", Kind::gather, &r::same, &c::scattered, 0},
    {"TensorScatter", Kind::gather, &r::tensor_scatter, &c::scattered, 0},
    {"NonMaxSuppression", Kind::sort, &r::non_max_suppression, nullptr, 0},
    {"TopK", Kind::sort, &r::top_k, &c::sorted, 0},
    {"Unique", Kind::sort, &r::unique, &c::sorted, 0},

    // Made from nothing.
    {"Constant", Kind::view, &r::constant, &c::view, 0},
    {"ConstantOfShape", Kind::copy, &r::constant_of_shape, &c::created, 0},
    {"EyeLike", Kind::copy, &r::like_with_dtype, &c::created, 0},
    {"Range", Kind::copy, &r::range, &c::created, 2},
    {"Shape", Kind::host, &r::shape_of, &c::host, 0},
    {"Size", Kind::host, &r::size_of, &c::host, 0},
    // Random numbers: ten rounds of Philox give four (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), about
    // 25
    // integer operations each; they are no floating-point work.
    {"Bernoulli", Kind::rng, &r::like_with_dtype, &c::elementwise, 1},
    {"Multinomial", Kind::rng, &r::multinomial, &c::moved, 0},
    {"RandomNormal", Kind::rng, &r::random, &c::created, 4},
    {"RandomNormalLike", Kind::rng, &r::like_with_dtype, &c::created, 4},
    {"RandomUniform", Kind::rng, &r::random, &c::created, 2},
    {"RandomUniformLike", Kind::rng, &r::like_with_dtype, &c::created, 2},
    // Signals.
    {"BlackmanWindow", Kind::elementwise, &r::window, &c::created, 7},
    {"HammingWindow", Kind::elementwise, &r::window, &c::created, 4},
    {"HannWindow", Kind::elementwise, &r::window, &c::created, 4},
    {"MelWeightMatrix", Kind::elementwise, &r::mel_weights, &c::created, 4},
    {"DFT", Kind::reduction, &r::dft, &c::transformed, 0},
    {"STFT", Kind::reduction, &r::stft, &c::transformed, 0},

    // Quantisation.
    {"QuantizeLinear", Kind::quantisation, &r::quantise, &c::elementwise, 5},  // /, round, +, two compares
    {"DequantizeLinear", Kind::quantisation, &r::dequantise, &c::elementwise, 2},
    {"DynamicQuantizeLinear", Kind::quantisation, &r::dynamic_quantise, &c::elementwise, 7},

    // Control: bodies are counted node by node. Sequences hold tensors and move none.
    {"If", Kind::control, nullptr, &c::view, 0},
    {"Loop", Kind::control, nullptr, &c::view, 0},
    {"Scan", Kind::control, nullptr, &c::view, 0},
    {"Optional", Kind::control, &r::opaque, &c::view, 0},
    {"OptionalGetElement", Kind::control, &r::opaque, &c::view, 0},
    {"OptionalHasElement", Kind::control, &r::scalar_integer, &c::view, 0},
    {"SequenceAt", Kind::control, &r::opaque, &c::view, 0},
    {"SequenceConstruct", Kind::control, &r::opaque, &c::view, 0},
    {"SequenceEmpty", Kind::control, &r::opaque, &c::view, 0},
    {"SequenceErase", Kind::control, &r::opaque, &c::view, 0},
    {"SequenceInsert", Kind::control, &r::opaque, &c::view, 0},
    {"SequenceLength", Kind::control, &r::scalar_integer, &c::view, 0},
    {"SplitToSequence", Kind::copy, &r::opaque, nullptr, 0},
    {"ConcatFromSequence", Kind::copy, &r::opaque, nullptr, 0},
});

}  // namespace

std::span<const Entry> standard_entries() { return kStandardEntries; }

}  // namespace aaco::graph
