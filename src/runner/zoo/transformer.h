#pragma once

#include <optional>

#include "runner/zoo/builder.h"

// The parts transformers are made of. Activations are [batch, length, width].
namespace aaco::runner::zoo {

// x W + b over the last dimension, as exporters write a linear layer of three dimensions (MatMul, Add).
TensorId dense(Builder& b, const std::string& name, TensorId x, std::int64_t in, std::int64_t out, bool bias = true,
               double input_energy = 1.0);
TensorId layer_norm(Builder& b, const std::string& name, TensorId x, std::int64_t width, double epsilon);
// Hendrycks and Gimpel 2016; the exact form with the error function, and the approximation with tanh that GPT-2 uses.
TensorId gelu(Builder& b, TensorId x);
TensorId gelu_tanh(Builder& b, TensorId x);
// Rows of a table of parameters: [rows, width] by indices of any shape.
struct Embedding {
  TensorId table;
  TensorId rows;
};
Embedding embed(Builder& b, const std::string& name, TensorId indices, std::int64_t count, std::int64_t width);

// [batch, length, heads * size] -> [batch, heads, length, size], and back.
TensorId split_heads(Builder& b, TensorId x, std::int64_t heads, std::int64_t size);
TensorId merge_heads(Builder& b, TensorId x, std::int64_t width);

// softmax(q k^T / sqrt(size) + mask) v for [batch, heads, length, size]; the mask is additive and may be left out.
TensorId attend(Builder& b, TensorId q, TensorId k, TensorId v, std::int64_t size, std::optional<TensorId> mask);

// The size of dimension `axis` of `x`, as a tensor of one element.
TensorId dimension(Builder& b, TensorId x, std::int64_t axis);
// 0 where `keep` is true, else the lowest value of the type.
TensorId additive_mask(Builder& b, TensorId keep);
// Of a decoder with a cache: [batch, 1, length, past + length], true where a query may look: not ahead, not at padding.
TensorId causal_keep(Builder& b, TensorId input_ids, TensorId attention_mask);

}  // namespace aaco::runner::zoo
