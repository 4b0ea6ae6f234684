#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "runner/zoo/builder.h"

namespace aaco::runner::zoo {

// How a decoder keeps the keys and values of earlier steps; the parameter "cache" of its entry.
inline constexpr std::string_view kCacheParameter = "cache";
enum class CacheKind : std::int64_t {
  none = 0,
  optimum = 1,  // past and present are concatenated
  merged = 2,   // the same, and the input use_cache_branch says whether there is a past
  genai = 3,    // GroupQueryAttention takes and extends it
};
CacheKind cache_of(const Entry& entry, const Config& config);

// A decoder's inputs, with what earlier steps left: keys and values [batch, heads, past, size] of every layer.
struct DecoderInputs {
  TensorId ids;             // [batch, length]
  TensorId attention_mask;  // [batch, past + length]
  TensorId positions;       // [batch, length]; none of CacheKind::genai
  struct Layer {
    TensorId key;
    TensorId value;
  };
  std::vector<Layer> past;  // one per layer; without a cache not valid()
};
DecoderInputs decoder_inputs(Builder& b, CacheKind kind, std::int64_t layers, std::int64_t heads, std::int64_t size);

// The cache with this step's keys (or values) at its end; becomes the output "present.N.key".
TensorId extend_cache(Builder& b, TensorId past, TensorId now);
// Declares the outputs: logits first, then the caches, as the inputs were.
void decoder_outputs(Builder& b, CacheKind kind, TensorId logits, std::int64_t vocabulary,
                     const std::vector<DecoderInputs::Layer>& present, std::int64_t heads, std::int64_t size);

// GroupQueryAttention with rotary positions, as ONNX Runtime GenAI's model builder writes it.
struct QueryGroups {
  std::int64_t heads = 0, kv_heads = 0, size = 0;
  double theta = 10000;
};
class GroupedAttention {
 public:
  GroupedAttention(Builder& b, TensorId attention_mask, const QueryGroups& groups);
  // q, k, v: [batch, length, heads * size]; so is the result.
  TensorId attend(Builder& b, TensorId q, TensorId k, TensorId v, const DecoderInputs::Layer& past,
                  DecoderInputs::Layer& present);

 private:
  QueryGroups groups_;
  TensorId lengths_, total_, cosines_, sines_;
};

// The weights of `variant` become those of `base` with the same names.
void share_weights(Blueprint& variant, const Blueprint& base);

}  // namespace aaco::runner::zoo
