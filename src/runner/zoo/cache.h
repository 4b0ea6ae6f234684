#pragma once

#include <vector>

#include "runner/zoo/builder.h"

namespace aaco::runner::zoo {

// A decoder's inputs, with what earlier steps left: keys and values [batch, heads, past, size] of every layer.
struct DecoderInputs {
  TensorId ids;             // [batch, length]
  TensorId attention_mask;  // [batch, past + length]
  TensorId positions;       // [batch, length]
  struct Layer {
    TensorId key;
    TensorId value;
  };
  std::vector<Layer> past;
};
DecoderInputs decoder_inputs(Builder& b, std::int64_t layers, std::int64_t heads, std::int64_t size);

// The cache with this step's keys (or values) at its end; becomes the output "present.N.key".
TensorId extend_cache(Builder& b, TensorId past, TensorId now);
// Declares the outputs: logits first, then the caches, as the inputs were.
void decoder_outputs(Builder& b, TensorId logits, std::int64_t vocabulary, const std::vector<DecoderInputs::Layer>& present,
                     std::int64_t heads, std::int64_t size);

}  // namespace aaco::runner::zoo
