#pragma once

#include "graph/catalogue/context.h"

// Shape functions: what each operator's definition says about its outputs (ONNX's Operators.md and ONNX Runtime's
// ContribOperators.md, every opset: an attribute of an older version and the input that replaced it are both understood).
namespace aaco::graph::rules {

// rules_elementwise.cc
void same(ShapeContext&);  // every output as input 0
void same_boolean(ShapeContext&);
void cast(ShapeContext&);
void cast_like(ShapeContext&);
void like_with_dtype(ShapeContext&);  // RandomNormalLike, EyeLike, Bernoulli
void spread(ShapeContext&);           // NumPy's broadcasting over all inputs
void spread_boolean(ShapeContext&);
void where(ShapeContext&);
void dropout(ShapeContext&);
void normalise(ShapeContext&);  // LayerNormalization: mean and deviation per row as outputs 1 and 2
void batch_normalise(ShapeContext&);
void skip_normalise(ShapeContext&);   // com.microsoft.SkipLayerNormalization
void embed_normalise(ShapeContext&);  // com.microsoft.EmbedLayerNormalization
void half_last(ShapeContext&);        // BiasSplitGelu and other gated activations: half of the last dimension

// rules_quantise.cc
void quantise(ShapeContext&);
void dequantise(ShapeContext&);
void dynamic_quantise(ShapeContext&);
void quantised_binary(ShapeContext&);  // com.microsoft.QLinearAdd: a, a_scale, a_zero, b, ...
void quantised_concat(ShapeContext&);
void quantised_where(ShapeContext&);  // condition, (x, scale, zero), (y, scale, zero), ..

// rules_matmul.cc
void matmul(ShapeContext&);
void matmul_integer(ShapeContext&);
void quantised_matmul(ShapeContext&);  // QLinearMatMul
void fused_matmul(ShapeContext&);
void gemm(ShapeContext&);
void matmul_nbits(ShapeContext&);     // weights packed; N and K are attributes
void matmul_to_float(ShapeContext&);  // MatMulIntegerToFloat, DynamicQuantizeMatMul
void einsum(ShapeContext&);

// rules_convolution.cc
void convolution(ShapeContext&);
void convolution_integer(ShapeContext&);
void quantised_convolution(ShapeContext&);
void convolution_nhwc(ShapeContext&);
void convolution_transposed(ShapeContext&);
void pool(ShapeContext&);
void pool_nhwc(ShapeContext&);
void global_pool(ShapeContext&);
void unpool(ShapeContext&);
void roi_pool(ShapeContext&);
void col2im(ShapeContext&);

// rules_reduce.cc
void reduce(ShapeContext&);
void arg_reduce(ShapeContext&);
void top_k(ShapeContext&);
void cross_entropy(ShapeContext&);
void determinant(ShapeContext&);

// rules_layout.cc
void reshape(ShapeContext&);
void flatten(ShapeContext&);
void squeeze(ShapeContext&);
void unsqueeze(ShapeContext&);
void transpose(ShapeContext&);
void concat(ShapeContext&);
void split(ShapeContext&);
void slice(ShapeContext&);
void expand(ShapeContext&);
void tile(ShapeContext&);
void pad(ShapeContext&);
void depth_to_space(ShapeContext&);
void space_to_depth(ShapeContext&);
void resize(ShapeContext&);
void crop_pad(ShapeContext&);

// rules_index.cc
void gather(ShapeContext&);
void gather_elements(ShapeContext&);
// Whether the indices of input 1 that are known lie in a table of that size (from its end where they are negative), as runtimes
// want; notes the problem where they don't.
bool indices_reach(ShapeContext&, const Dimension& table);
void gather_nd(ShapeContext&);
void gather_block_quantised(ShapeContext&);
void one_hot(ShapeContext&);
void non_zero(ShapeContext&);
void unique(ShapeContext&);
void compress(ShapeContext&);
void non_max_suppression(ShapeContext&);
void grid_sample(ShapeContext&);
void affine_grid(ShapeContext&);

// rules_create.cc
void constant(ShapeContext&);
void constant_of_shape(ShapeContext&);
void shape_of(ShapeContext&);
void size_of(ShapeContext&);
void range(ShapeContext&);
void random(ShapeContext&);
void multinomial(ShapeContext&);
void window(ShapeContext&);
void mel_weights(ShapeContext&);
void dft(ShapeContext&);
void stft(ShapeContext&);
void scalar_integer(ShapeContext&);  // SequenceLength, OptionalHasElement
void opaque(ShapeContext&);          // sequences and optional values: no tensor, nothing to say

// rules_sequence.cc
void recurrent(ShapeContext&);
void attention_standard(ShapeContext&);  // ai.onnx Attention-23
void attention(ShapeContext&);           // com.microsoft.Attention, QAttention
void multi_head_attention(ShapeContext&);
void group_query_attention(ShapeContext&);
void packed_attention(ShapeContext&);
void paged_attention(ShapeContext&);
void sparse_attention(ShapeContext&);
void mixture_of_experts(ShapeContext&);
void position_bias(ShapeContext&);
void tensor_scatter(ShapeContext&);

// rules_tflite.cc
void tflite(ShapeContext&);  // every operator of the domain "tflite": the sizes that a file leaves open

}  // namespace aaco::graph::rules
