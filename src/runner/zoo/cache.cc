#include "runner/zoo/cache.h"

#include <cmath>
#include <map>

#include "runner/zoo/transformer.h"

namespace aaco::runner::zoo {
namespace {

constexpr const char* kBatch = "batch_size";
constexpr const char* kLength = "sequence_length";
constexpr const char* kPast = "past_sequence_length";
constexpr const char* kTotal = "past_sequence_length + sequence_length";
constexpr const char* kRuntimeTotal = "total_sequence_length";
constexpr std::int64_t kOnnxHalf = 10, kOnnxInt32 = 6, kOnnxInt64 = 7;
constexpr std::int64_t kRotaryPositions = 4096;

// Nothing of the past where the flag is off: a past of another length is passed then, and not read.
void cut_past(Builder& b, TensorId use_cache, std::vector<DecoderInputs::Layer>& past) {
  const TensorId on = b.node("Cast", {use_cache}, {{"to", kOnnxInt64}});
  const auto cut = [&](TensorId tensor) {
    const TensorId end = b.node("Mul", {dimension(b, tensor, 2), on});
    return b.node("Slice", {tensor, b.constant({0}), end, b.constant({2})});
  };
  for (DecoderInputs::Layer& layer : past) layer = {cut(layer.key), cut(layer.value)};
}

}  // namespace

CacheKind cache_of(const Entry& entry, const Config& config) {
  return static_cast<CacheKind>(entry.value(config, kCacheParameter));
}

DecoderInputs decoder_inputs(Builder& b, CacheKind kind, std::int64_t layers, std::int64_t heads, std::int64_t size) {
  DecoderInputs inputs;
  const bool has_cache = kind != CacheKind::none, genai = kind == CacheKind::genai;
  inputs.ids = b.input("input_ids", ElementType::int64, {kBatch, kLength});
  inputs.attention_mask = b.input("attention_mask", ElementType::int64,
                                  {kBatch, genai       ? kRuntimeTotal
                                           : has_cache ? kTotal
                                                       : kLength});
  if (!genai) inputs.positions = b.input("position_ids", ElementType::int64, {kBatch, kLength});
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    inputs.past.emplace_back();
    if (!has_cache) continue;
    const std::string name = "past_key_values." + std::to_string(layer);
    const graph::Shape shape = {kBatch, heads, kPast, size};
    inputs.past.back().key = b.input(name + ".key", b.type(), shape);
    inputs.past.back().value = b.input(name + ".value", b.type(), shape);
  }
  if (kind == CacheKind::merged) cut_past(b, b.input("use_cache_branch", ElementType::boolean, {1}), inputs.past);
  return inputs;
}

TensorId extend_cache(Builder& b, TensorId past, TensorId now) {
  if (!past.valid()) return now;
  return b.node("Concat", {past, now}, {{"axis", std::int64_t{2}}});
}

void decoder_outputs(Builder& b, CacheKind kind, TensorId logits, std::int64_t vocabulary,
                     const std::vector<DecoderInputs::Layer>& present, std::int64_t heads, std::int64_t size) {
  b.output(logits, "logits", b.type(), {kBatch, kLength, vocabulary});
  if (kind == CacheKind::none) return;
  const graph::Shape shape = {kBatch, heads, kind == CacheKind::genai ? kRuntimeTotal : kTotal, size};
  for (std::size_t layer = 0; layer < present.size(); ++layer) {
    const std::string name = "present." + std::to_string(layer);
    b.output(present[layer].key, name + ".key", b.type(), shape);
    b.output(present[layer].value, name + ".value", b.type(), shape);
  }
}

GroupedAttention::GroupedAttention(Builder& b, TensorId attention_mask, const QueryGroups& groups) : groups_(groups) {
  const Builder::Scope scope(b, "attn_mask_reformat");
  const TensorId counts = b.node("ReduceSum", {attention_mask, b.constant({1})}, {{"keepdims", std::int64_t{0}}});
  lengths_ = b.node("Cast", {b.node("Sub", {counts, b.scalar(1)})}, {{"to", kOnnxInt32}});
  const TensorId total = b.node("Squeeze", {dimension(b, attention_mask, 1), b.constant({0})});
  total_ = b.node("Cast", {total}, {{"to", kOnnxInt32}});
  const std::int64_t pairs = groups.size / 2;
  std::vector<float> cosines, sines;
  for (std::int64_t position = 0; position < kRotaryPositions; ++position)
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      // The frequency in single precision, as the other layouts have it.
      const auto frequency =
          static_cast<float>(std::pow(groups.theta, -2.0 * static_cast<double>(pair) / static_cast<double>(groups.size)));
      const float angle = frequency * static_cast<float>(position);
      cosines.push_back(std::cos(angle));
      sines.push_back(std::sin(angle));
    }
  const auto typed = [&](TensorId table) {
    if (b.type() == ElementType::float32) return table;
    return b.node("Cast", {table}, {{"to", kOnnxHalf}});
  };
  cosines_ = typed(b.reals("cos_cache", cosines, {kRotaryPositions, pairs}));
  sines_ = typed(b.reals("sin_cache", sines, {kRotaryPositions, pairs}));
}

TensorId GroupedAttention::attend(Builder& b, TensorId q, TensorId k, TensorId v, const DecoderInputs::Layer& past,
                                  DecoderInputs::Layer& present) {
  const auto made =
      b.runtime_node("GroupQueryAttention", 3, {q, k, v, past.key, past.value, lengths_, total_, cosines_, sines_},
                     {{"num_heads", groups_.heads}, {"kv_num_heads", groups_.kv_heads}, {"do_rotary", std::int64_t{1}}});
  present = {made[1], made[2]};
  return made[0];
}

void share_weights(Blueprint& variant, const Blueprint& base) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < base.graph.initializers.size(); ++i)
    places.emplace(base.graph.tensor(base.graph.initializers[i].tensor).name, i);
  variant.streams.clear();
  for (std::size_t i = 0; i < variant.graph.initializers.size(); ++i) {
    const auto place = places.find(variant.graph.tensor(variant.graph.initializers[i].tensor).name);
    variant.streams.push_back(place == places.end() ? base.graph.initializers.size() + i : place->second);
  }
}

}  // namespace aaco::runner::zoo
