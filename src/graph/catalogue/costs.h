#pragma once

#include "graph/catalogue/cost_context.h"

// Cost functions. Each notes FLOPs, bytes and, where kernels differ by it, the site.
namespace aaco::graph::costs {

// cost_simple.cc
void view(CostContext&);         // moves nothing
void host(CostContext&);         // a few numbers
void moved(CostContext&);        // reads and writes everything, computes nothing
void elementwise(CostContext&);  // entry.flops an element of the output
void reduced(CostContext&);      // entry.flops an element of the input
void picked(CostContext&);       // reads as much of input 0 as it writes, and the indices: gather, slice, split
void kept(CostContext&);         // input 1 is copied into a variable
void created(CostContext&);      // writes only; entry.flops an element
void scattered(CostContext&);    // the data pass through, the updates go over them
void accumulated(CostContext&);  // one operation an element of all inputs but one: Sum, Mean, Max
void sorted(CostContext&);       // n log2 n compares
void pooled(CostContext&);       // one operation an element of the window
void pooled_globally(CostContext&);
void resized(CostContext&);
void transformed(CostContext&);          // discrete Fourier transforms
void aten_fft(CostContext&);             // over the dimensions of the attribute "dim"
void sampled(CostContext&);              // GridSample, RoiAlign: bilinear
void looked_up(CostContext&);            // rows of input 1 that the numbers of input 0 pick
void embedded(CostContext&);             // com.microsoft.EmbedLayerNormalization; entry.flops an element
void looked_up_in_blocks(CostContext&);  // com.microsoft.GatherBlockQuantized; entry.flops an element
void embedding_bag(CostContext&);        // rows that the indices pick, summed by bag; entry.flops an element of them
void distances(CostContext&);            // entry.flops a coordinate of each pair of rows
void normalised(CostContext&);           // entry.flops an element of input 0

// cost_gemm.cc
void matmul(CostContext&);            // ONNX MatMul and its relatives: operands 0 and 1
void matmul_quantised(CostContext&);  // QLinearMatMul: operands 0 and 3
void gemm(CostContext&);              // transA, transB, bias
void matmul_nbits(CostContext&);
void einsum(CostContext&);
void linear(CostContext&);  // x [.., k], weight [n, k], bias (PyTorch)
void tflite_linear(CostContext&);
void grouped_product(CostContext&);  // rows of input 0, each with one of the matrices of input 1
void packed_product(CostContext&);   // x [.., k] with weights of entry.flops bits, packed as the device likes
void addmm(CostContext&);            // bias, a, b
void baddbmm(CostContext&);
void mixture_of_experts(CostContext&);

// cost_convolution.cc
void convolution(CostContext&);
void convolution_quantised(CostContext&);
void convolution_nhwc(CostContext&);
void convolution_transposed(CostContext&);
void aten_convolution(CostContext&);
void tflite_convolution(CostContext&);
void tflite_depthwise(CostContext&);
void tflite_transposed(CostContext&);        // output shape, filter, input, bias
void tflite_transposed_after(CostContext&);  // MediaPipe's Convolution2DTransposeBias: input, filter, bias
void tflite_convolution_3d(CostContext&);

// cost_sequence.cc
void recurrent(CostContext&);
void aten_recurrent(CostContext&);  // all layers and directions: input, states, then the weights of each
void attention_standard(CostContext&);
void attention_projected(CostContext&);  // com.microsoft.Attention: with its projection
void multi_head_attention(CostContext&);
void group_query_attention(CostContext&);
void scaled_dot_product(CostContext&);  // aten: q, k, v of [.., length, size]
void tflite_lstm(CostContext&);         // LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM, BIDIRECTIONAL_SEQUENCE_LSTM
void tflite_rnn(CostContext&);          // RNN, UNIDIRECTIONAL_SEQUENCE_RNN, BIDIRECTIONAL_SEQUENCE_RNN, SVDF

// cost_attention.cc
void sparse_attention(CostContext&);
void paged_attention(CostContext&);
void windowed_attention(CostContext&);

}  // namespace aaco::graph::costs
