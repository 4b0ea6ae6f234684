#include "runner/zoo/cache.h"
#include "runner/zoo/families.h"
#include "runner/zoo/layers.h"
#include "runner/zoo/transformer.h"

// Radford et al. 2019, "Language Models are Unsupervised Multitask Learners": GPT-2, with a cache; the embedding is the head's
// weight.
namespace aaco::runner::zoo {
namespace {

constexpr std::int64_t kVocabulary = 50257;
constexpr std::int64_t kPositions = 1024;
constexpr std::int64_t kHeadSize = 64;
constexpr double kEpsilon = 1e-5;

TensorId attention(Builder& b, TensorId x, const DecoderInputs::Layer& past, DecoderInputs::Layer& present, TensorId mask,
                   std::int64_t heads) {
  const Builder::Scope scope(b, "attn");
  const std::int64_t width = heads * kHeadSize;
  const std::vector<TensorId> parts = b.node_n(
      "Split", 3, {dense(b, "c_attn", x, width, 3 * width), b.constant({width, width, width})}, {{"axis", std::int64_t{2}}});
  const TensorId q = split_heads(b, parts[0], heads, kHeadSize);
  present.key = extend_cache(b, past.key, split_heads(b, parts[1], heads, kHeadSize));
  present.value = extend_cache(b, past.value, split_heads(b, parts[2], heads, kHeadSize));
  return dense(b, "c_proj", merge_heads(b, attend(b, q, present.key, present.value, kHeadSize, mask), width), width, width);
}

TensorId feed_forward(Builder& b, TensorId x, std::int64_t width) {
  const Builder::Scope scope(b, "mlp");
  return dense(b, "c_proj", gelu_tanh(b, dense(b, "c_fc", x, width, 4 * width)), 4 * width, width, true, kAfterGelu);
}

}  // namespace

core::Result<Blueprint> build_gpt2(const Entry& entry, const Config& config) {
  const std::int64_t layers = entry.value(config, "layers");
  const std::int64_t heads = entry.value(config, "heads");
  const std::int64_t width = heads * kHeadSize;
  Builder b(entry.name, config.type);
  const CacheKind kind = cache_of(entry, config);
  const DecoderInputs inputs = decoder_inputs(b, kind, layers, heads, kHeadSize);
  std::vector<DecoderInputs::Layer> present(inputs.past.size());
  TensorId logits;
  {
    const Builder::Scope scope(b, "transformer");
    const Embedding words = embed(b, "wte", inputs.ids, kVocabulary, width);
    TensorId x = b.node("Add", {words.rows, embed(b, "wpe", inputs.positions, kPositions, width).rows});
    const TensorId mask = additive_mask(b, causal_keep(b, inputs.ids, inputs.attention_mask));
    for (std::size_t layer = 0; layer < present.size(); ++layer) {
      const Builder::Scope block(b, "h." + std::to_string(layer));
      x = b.node("Add",
                 {attention(b, layer_norm(b, "ln_1", x, width, kEpsilon), inputs.past[layer], present[layer], mask, heads), x});
      x = b.node("Add", {x, feed_forward(b, layer_norm(b, "ln_2", x, width, kEpsilon), width)});
    }
    x = layer_norm(b, "ln_f", x, width, kEpsilon);
    logits = b.node("MatMul", {x, b.node("Transpose", {words.table}, {{"perm", Dims{1, 0}}})});
  }
  decoder_outputs(b, kind, logits, kVocabulary, present, heads, kHeadSize);
  Blueprint made = std::move(b).finish();
  if (kind == CacheKind::optimum) return made;
  Config usual = config;
  usual.values.erase(std::string(kCacheParameter));
  AACO_ASSIGN(const Blueprint base, build_gpt2(entry, usual));
  share_weights(made, base);
  return made;
}

}  // namespace aaco::runner::zoo
