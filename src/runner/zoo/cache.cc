#include "runner/zoo/cache.h"

namespace aaco::runner::zoo {
namespace {

constexpr const char* kBatch = "batch_size";
constexpr const char* kLength = "sequence_length";
constexpr const char* kPast = "past_sequence_length";
constexpr const char* kTotal = "past_sequence_length + sequence_length";

}  // namespace

DecoderInputs decoder_inputs(Builder& b, std::int64_t layers, std::int64_t heads, std::int64_t size) {
  DecoderInputs inputs;
  inputs.ids = b.input("input_ids", ElementType::int64, {kBatch, kLength});
  inputs.attention_mask = b.input("attention_mask", ElementType::int64, {kBatch, kTotal});
  inputs.positions = b.input("position_ids", ElementType::int64, {kBatch, kLength});
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string name = "past_key_values." + std::to_string(layer);
    const graph::Shape shape = {kBatch, heads, kPast, size};
    const TensorId key = b.input(name + ".key", b.type(), shape);
    inputs.past.push_back({key, b.input(name + ".value", b.type(), shape)});
  }
  return inputs;
}

TensorId extend_cache(Builder& b, TensorId past, TensorId now) {
  return b.node("Concat", {past, now}, {{"axis", std::int64_t{2}}});
}

void decoder_outputs(Builder& b, TensorId logits, std::int64_t vocabulary, const std::vector<DecoderInputs::Layer>& present,
                     std::int64_t heads, std::int64_t size) {
  b.output(logits, "logits", b.type(), {kBatch, kLength, vocabulary});
  for (std::size_t layer = 0; layer < present.size(); ++layer) {
    const std::string name = "present." + std::to_string(layer);
    b.output(present[layer].key, name + ".key", b.type(), {kBatch, heads, kTotal, size});
    b.output(present[layer].value, name + ".value", b.type(), {kBatch, heads, kTotal, size});
  }
}

}  // namespace aaco::runner::zoo
