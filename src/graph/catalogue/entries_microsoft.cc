#include <array>

#include "graph/catalogue/costs.h"
#include "graph/catalogue/entry.h"
#include "graph/catalogue/rules.h"

// com.microsoft (ContribOperators.md of ONNX Runtime) and the channels-last twins its optimiser makes. FLOPs as in
// entries_standard.cc; a fused operator takes what its parts take.
namespace aaco::graph {
namespace {

using Kind = OperatorClass;
namespace r = rules;
namespace c = costs;

constexpr auto kMicrosoftEntries = std::to_array<Entry>({
    {"BiasAdd", Kind::elementwise, &r::spread, &c::elementwise, 2},  // x + bias + skip
    {"BiasDropout", Kind::elementwise, &r::dropout, &c::elementwise, 2},
    {"BiasGelu", Kind::elementwise, &r::same, &c::elementwise, 6},
    {"BiasSoftmax", Kind::softmax, &r::same, &c::normalised, 6},
    {"BiasSplitGelu", Kind::elementwise, &r::half_last, &c::elementwise, 8},
    {"BitmaskDropout", Kind::elementwise, &r::dropout, &c::elementwise, 1},
    {"FastGelu", Kind::elementwise, &r::same, &c::elementwise, 9},  // the tanh form
    {"FusedBiasAdd", Kind::elementwise, &r::spread, &c::elementwise, 2},
    {"Gelu", Kind::elementwise, &r::same, &c::elementwise, 5},
    {"Inverse", Kind::gemm, &r::same, nullptr, 0},
    {"QuickGelu", Kind::elementwise, &r::same, &c::elementwise, 6},
    {"RotaryEmbedding", Kind::elementwise, &r::same, &c::elementwise, 3},
    {"GemmaRotaryEmbedding", Kind::elementwise, &r::same, &c::elementwise, 3},
    {"Trilu", Kind::copy, &r::same, &c::moved, 0},
    {"Range", Kind::copy, &r::range, &c::created, 2},
    {"Pad", Kind::copy, &r::pad, &c::moved, 0},
    {"GridSample", Kind::resize, &r::grid_sample, &c::sampled, 0},
    {"GatherND", Kind::gather, &r::gather_nd, &c::picked, 0},
    {"Unique", Kind::sort, &r::unique, &c::sorted, 0},

    {"EmbedLayerNormalization", Kind::normalisation, &r::embed_normalise, &c::embedded,
     9},  // two sums, then a layer normalisation
    {"GroupNorm", Kind::normalisation, &r::same, &c::normalised, 7},
    {"SkipGroupNorm", Kind::normalisation, &r::same, &c::normalised, 8},
    {"LayerNormalization", Kind::normalisation, &r::normalise, &c::normalised, 7},
    {"SimplifiedLayerNormalization", Kind::normalisation, &r::normalise, &c::normalised, 4},
    {"SkipLayerNormalization", Kind::normalisation, &r::skip_normalise, &c::normalised, 9},
    {"SkipSimplifiedLayerNormalization", Kind::normalisation, &r::skip_normalise, &c::normalised, 6},

    {"FusedMatMul", Kind::gemm, &r::fused_matmul, &c::matmul, 1},  // and alpha
    {"FusedMatMulActivation", Kind::gemm, &r::fused_matmul, &c::matmul, 2},
    {"TransposeMatMul", Kind::gemm, &r::fused_matmul, &c::matmul, 1},
    {"FusedGemm", Kind::gemm, &r::gemm, &c::gemm, 1},
    {"GemmFastGelu", Kind::gemm, &r::matmul, &c::matmul, 10},
    {"GemmFloat8", Kind::gemm, &r::gemm, &c::gemm, 0},
    {"MatMulInteger16", Kind::gemm, &r::matmul_integer, &c::matmul, 0},
    {"MatMulIntegerToFloat", Kind::gemm, &r::matmul_to_float, &c::matmul, 2},
    {"DynamicQuantizeMatMul", Kind::gemm, &r::matmul_to_float, &c::matmul, 2},
    {"QGemm", Kind::gemm, &r::quantised_matmul, &c::matmul_quantised, 4},
    {"MatMulNBits", Kind::gemm, &r::matmul_nbits, &c::matmul_nbits, 0},
    {"MatMulBnb4", Kind::gemm, &r::matmul_nbits, &c::matmul_nbits, 0},
    {"MatMulFpQ4", Kind::gemm, nullptr, nullptr, 0},
    {"MoE", Kind::gemm, &r::mixture_of_experts, &c::mixture_of_experts, 0},
    {"QMoE", Kind::gemm, &r::mixture_of_experts, &c::mixture_of_experts, 0},

    {"FusedConv", Kind::convolution, &r::convolution, &c::convolution, 1},
    {"NhwcConv", Kind::convolution, &r::convolution_nhwc, &c::convolution_nhwc, 0},
    {"NhwcFusedConv", Kind::convolution, &r::convolution_nhwc, &c::convolution_nhwc, 0},
    {"QLinearConv", Kind::convolution, &r::quantised_convolution, &c::convolution_quantised, 3},
    {"NhwcMaxPool", Kind::pooling, &r::pool_nhwc, &c::pooled, 1},
    {"QLinearAveragePool", Kind::pooling, &r::pool, &c::pooled, 1},
    {"QLinearGlobalAveragePool", Kind::pooling, &r::global_pool, &c::pooled_globally, 1},

    {"Attention", Kind::attention, &r::attention, &c::attention_projected, 0},
    {"QAttention", Kind::attention, &r::attention, &c::attention_projected, 0},
    {"PackedAttention", Kind::attention, &r::packed_attention, &c::attention_projected, 0},
    {"MultiHeadAttention", Kind::attention, &r::multi_head_attention, &c::multi_head_attention, 0},
    {"DecoderMaskedSelfAttention", Kind::attention, &r::attention, &c::attention_projected, 0},
    {"DecoderMaskedMultiHeadAttention", Kind::attention, &r::multi_head_attention, &c::multi_head_attention, 0},
    {"PackedMultiHeadAttention", Kind::attention, &r::packed_attention, &c::multi_head_attention, 0},
    {"GroupQueryAttention", Kind::attention, &r::group_query_attention, &c::group_query_attention, 0},
    {"SparseAttention", Kind::attention, &r::sparse_attention, &c::sparse_attention, 0},
    {"PagedAttention", Kind::attention, &r::paged_attention, &c::paged_attention, 0},
    {"LongformerAttention", Kind::attention, &r::same, &c::windowed_attention, 0},
    {"RelativePositionBias", Kind::gather, &r::position_bias, &c::created, 4},
    {"DynamicQuantizeLSTM", Kind::recurrent, &r::recurrent, &c::recurrent, 0},

    {"QuantizeLinear", Kind::quantisation, &r::quantise, &c::elementwise, 5},
    {"DequantizeLinear", Kind::quantisation, &r::dequantise, &c::elementwise, 2},
    {"QLinearAdd", Kind::elementwise, &r::quantised_binary, &c::elementwise, 8},
    {"QLinearMul", Kind::elementwise, &r::quantised_binary, &c::elementwise, 6},
    {"QLinearLeakyRelu", Kind::elementwise, &r::same, &c::elementwise, 8},
    {"QLinearSigmoid", Kind::elementwise, &r::same, &c::elementwise, 9},
    {"QLinearSoftmax", Kind::softmax, &r::same, &c::normalised, 9},
    {"QLinearWhere", Kind::elementwise, &r::quantised_where, &c::elementwise, 6},
    {"QLinearConcat", Kind::copy, &r::quantised_concat, &c::moved, 0},
    {"QLinearReduceMean", Kind::reduction, &r::reduce, &c::reduced, 3},
    {"GatherBlockQuantized", Kind::gather, &r::gather_block_quantised, &c::looked_up_in_blocks, 2},
});

}  // namespace

std::span<const Entry> microsoft_entries() { return kMicrosoftEntries; }

}  // namespace aaco::graph
