#include <cmath>
#include <functional>

#include "runner/zoo/cache.h"
#include "runner/zoo/families.h"
#include "runner/zoo/layers.h"
#include "runner/zoo/transformer.h"

// Touvron et al. 2023, "Llama 2": RMS normalisation (Zhang and Sennrich 2019), rotary positions (Su et al. 2021), grouped queries
// (Ainslie et al. 2023), SwiGLU (Shazeer 2020), with a cache.
namespace aaco::runner::zoo {
namespace {

constexpr std::int64_t kOnnxFloat = 1, kOnnxHalf = 10;
constexpr double kEpsilon = 1e-5;
// A unit normal gate times a unit normal value.
constexpr double kAfterSwiGlu = kAfterSilu;

struct Sizes {
  std::int64_t layers, hidden, heads, kv_heads, ffn, vocabulary, theta;
  bool tied;
  [[nodiscard]] std::int64_t head() const { return hidden / heads; }
};

TensorId to_type(Builder& b, TensorId x, ElementType type) {
  if (b.type() == ElementType::float32) return x;
  return b.node("Cast", {x}, {{"to", type == ElementType::float32 ? kOnnxFloat : kOnnxHalf}});
}

// x / sqrt(mean(x^2) + epsilon) * weight, the mean in single precision.
TensorId rms_norm(Builder& b, const std::string& name, TensorId x, std::int64_t width) {
  const Builder::Scope scope(b, name);
  const TensorId wide = to_type(b, x, ElementType::float32);
  TensorId mean = b.node("ReduceMean", {b.node("Pow", {wide, b.real(2, ElementType::float32)})},
                         {{"axes", Dims{-1}}, {"keepdims", std::int64_t{1}}});
  mean = b.node("Sqrt", {b.node("Add", {mean, b.real(kEpsilon, ElementType::float32)})});
  const TensorId normal = to_type(b, b.node("Div", {wide, mean}), b.type());
  return b.node("Mul", {normal, b.parameter("weight", {width}, {1.0, 0.1})});
}

struct Rotation {
  TensorId cos;
  TensorId sin;
};

// [batch, 1, length, size]: the angle of pair i at position p is p / theta^(2i / size).
Rotation rotation(Builder& b, TensorId positions, const Sizes& sizes) {
  const Builder::Scope scope(b, "rotary_emb");
  std::vector<float> frequencies;
  for (std::int64_t pair = 0; pair < sizes.head() / 2; ++pair)
    frequencies.push_back(static_cast<float>(
        std::pow(static_cast<double>(sizes.theta), -2.0 * static_cast<double>(pair) / static_cast<double>(sizes.head()))));
  const TensorId table = b.reals("inv_freq", frequencies, {1, sizes.head() / 2, 1});
  const TensorId at = b.node("Cast", {b.node("Unsqueeze", {positions, b.constant({1})})}, {{"to", kOnnxFloat}});
  TensorId angles = b.node("Transpose", {b.node("MatMul", {table, at})}, {{"perm", Dims{0, 2, 1}}});
  angles = b.node("Unsqueeze", {b.node("Concat", {angles, angles}, {{"axis", std::int64_t{-1}}}), b.constant({1})});
  return {to_type(b, b.node("Cos", {angles}), b.type()), to_type(b, b.node("Sin", {angles}), b.type())};
}

TensorId rotate(Builder& b, TensorId x, const Rotation& rotation, std::int64_t size) {
  const auto part = [&](std::int64_t from, std::int64_t to) {
    return b.node("Slice", {x, b.constant({from}), b.constant({to}), b.constant({3})});
  };
  const TensorId turned =
      b.node("Concat", {b.node("Neg", {part(size / 2, size)}), part(0, size / 2)}, {{"axis", std::int64_t{-1}}});
  return b.node("Add", {b.node("Mul", {x, rotation.cos}), b.node("Mul", {turned, rotation.sin})});
}

// Each key and value head serves a group of query heads.
TensorId repeat_heads(Builder& b, TensorId x, const Sizes& sizes) {
  const std::int64_t group = sizes.heads / sizes.kv_heads;
  if (group == 1) return x;
  const TensorId wide = b.node("Expand", {b.node("Unsqueeze", {x, b.constant({2})}), b.constant({1, 1, group, 1, 1})});
  return b.node("Reshape", {wide, b.constant({0, sizes.heads, -1, sizes.head()})});
}

TensorId grouped_attention(Builder& b, TensorId x, const Sizes& sizes, GroupedAttention& groups, const DecoderInputs::Layer& past,
                           DecoderInputs::Layer& present) {
  const Builder::Scope scope(b, "self_attn");
  const std::int64_t kv_width = sizes.kv_heads * sizes.head();
  const TensorId q = dense(b, "q_proj", x, sizes.hidden, sizes.hidden, false);
  const TensorId k = dense(b, "k_proj", x, sizes.hidden, kv_width, false);
  const TensorId v = dense(b, "v_proj", x, sizes.hidden, kv_width, false);
  return dense(b, "o_proj", groups.attend(b, q, k, v, past, present), sizes.hidden, sizes.hidden, false);
}

TensorId attention(Builder& b, TensorId x, const Sizes& sizes, const Rotation& angles, TensorId mask,
                   const DecoderInputs::Layer& past, DecoderInputs::Layer& present) {
  const Builder::Scope scope(b, "self_attn");
  const std::int64_t kv_width = sizes.kv_heads * sizes.head();
  const TensorId q = split_heads(b, dense(b, "q_proj", x, sizes.hidden, sizes.hidden, false), sizes.heads, sizes.head());
  const TensorId k = split_heads(b, dense(b, "k_proj", x, sizes.hidden, kv_width, false), sizes.kv_heads, sizes.head());
  const TensorId v = split_heads(b, dense(b, "v_proj", x, sizes.hidden, kv_width, false), sizes.kv_heads, sizes.head());
  const TensorId turned = rotate(b, q, angles, sizes.head());
  present.key = extend_cache(b, past.key, rotate(b, k, angles, sizes.head()));
  present.value = extend_cache(b, past.value, v);
  const TensorId seen =
      attend(b, turned, repeat_heads(b, present.key, sizes), repeat_heads(b, present.value, sizes), sizes.head(), mask);
  return dense(b, "o_proj", merge_heads(b, seen, sizes.hidden), sizes.hidden, sizes.hidden, false);
}

using Attention = std::function<TensorId(TensorId x, const DecoderInputs::Layer& past, DecoderInputs::Layer& present)>;

// What all layers share is built here: mask and angles, or the lengths and tables of GroupQueryAttention.
Attention attention_of(Builder& b, CacheKind kind, const DecoderInputs& inputs, const Sizes& sizes) {
  if (kind == CacheKind::genai) {
    GroupedAttention groups(b, inputs.attention_mask,
                            {sizes.heads, sizes.kv_heads, sizes.head(), static_cast<double>(sizes.theta)});
    return [&b, &sizes, groups](TensorId x, const DecoderInputs::Layer& past, DecoderInputs::Layer& present) mutable {
      return grouped_attention(b, x, sizes, groups, past, present);
    };
  }
  const TensorId mask = additive_mask(b, causal_keep(b, inputs.ids, inputs.attention_mask));
  const Rotation angles = rotation(b, inputs.positions, sizes);
  return [&b, &sizes, mask, angles](TensorId x, const DecoderInputs::Layer& past, DecoderInputs::Layer& present) {
    return attention(b, x, sizes, angles, mask, past, present);
  };
}

TensorId feed_forward(Builder& b, TensorId x, const Sizes& sizes) {
  const Builder::Scope scope(b, "mlp");
  const TensorId gate = silu(b, dense(b, "gate_proj", x, sizes.hidden, sizes.ffn, false));
  const TensorId up = dense(b, "up_proj", x, sizes.hidden, sizes.ffn, false);
  return dense(b, "down_proj", b.node("Mul", {gate, up}), sizes.ffn, sizes.hidden, false, kAfterSwiGlu);
}

core::Result<Sizes> sizes_of(const Entry& entry, const Config& config) {
  const auto value = [&](std::string_view name) { return entry.value(config, name); };
  const Sizes sizes = {value("layers"), value("hidden"), value("heads"),      value("kv_heads"),
                       value("ffn"),    value("vocab"),  value("rope_theta"), value("tied") != 0};
  const auto refuse = [&](const std::string& what) {
    return core::fail(core::ErrorCode::invalid_argument, entry.name + ": " + what);
  };
  if (sizes.hidden % sizes.heads != 0 || sizes.head() % 2 != 0) return refuse("hidden must be an even multiple of heads");
  if (sizes.heads % sizes.kv_heads != 0) return refuse("heads must be a multiple of kv_heads");
  return sizes;
}

}  // namespace

core::Result<Blueprint> build_llama(const Entry& entry, const Config& config) {
  AACO_ASSIGN(const Sizes sizes, sizes_of(entry, config));
  Builder b(entry.name, config.type);
  const CacheKind kind = cache_of(entry, config);
  const DecoderInputs inputs = decoder_inputs(b, kind, sizes.layers, sizes.kv_heads, sizes.head());
  std::vector<DecoderInputs::Layer> present(inputs.past.size());
  Embedding words;
  TensorId x;
  {
    const Builder::Scope scope(b, "model");
    words = embed(b, "embed_tokens", inputs.ids, sizes.vocabulary, sizes.hidden);
    x = words.rows;
    const Attention attend = attention_of(b, kind, inputs, sizes);
    for (std::size_t layer = 0; layer < present.size(); ++layer) {
      const Builder::Scope block(b, "layers." + std::to_string(layer));
      x = b.node("Add", {x, attend(rms_norm(b, "input_layernorm", x, sizes.hidden), inputs.past[layer], present[layer])});
      x = b.node("Add", {x, feed_forward(b, rms_norm(b, "post_attention_layernorm", x, sizes.hidden), sizes)});
    }
    x = rms_norm(b, "norm", x, sizes.hidden);
  }
  TensorId logits;
  if (sizes.tied)
    logits = b.node("MatMul", {x, b.node("Transpose", {words.table}, {{"perm", Dims{1, 0}}})});
  else
    logits = dense(b, "lm_head", x, sizes.hidden, sizes.vocabulary, false);
  decoder_outputs(b, kind, logits, sizes.vocabulary, present, sizes.kv_heads, sizes.head());
  Blueprint made = std::move(b).finish();
  if (kind == CacheKind::optimum) return made;
  Config usual = config;
  usual.values.erase(std::string(kCacheParameter));
  AACO_ASSIGN(const Blueprint base, build_llama(entry, usual));
  share_weights(made, base);
  return made;
}

}  // namespace aaco::runner::zoo
