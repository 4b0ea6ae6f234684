#include <numeric>

#include "runner/zoo/families.h"
#include "runner/zoo/layers.h"
#include "runner/zoo/transformer.h"

// Devlin et al. 2018, "BERT" (base, uncased), and Sanh et al. 2019, "DistilBERT": the encoders without a task's head.
namespace aaco::runner::zoo {
namespace {

constexpr std::int64_t kVocabulary = 30522;
constexpr std::int64_t kPositions = 512;
constexpr std::int64_t kWidth = 768;
constexpr std::int64_t kHeads = 12;
constexpr std::int64_t kHeadSize = kWidth / kHeads;
constexpr std::int64_t kHidden = 3072;
constexpr double kEpsilon = 1e-12;

// What the two call their parts.
struct Names {
  const char *attention, *query, *key, *value, *out, *out_norm, *up, *down, *down_norm;
};
constexpr Names kBert = {"attention",          "self.query",   "self.key",
                         "self.value",         "output.dense", "attention.output.LayerNorm",
                         "intermediate.dense", "output.dense", "output.LayerNorm"};
constexpr Names kDistil = {"attention",        "q_lin", "k_lin", "v_lin", "out_lin", "sa_layer_norm", "ffn.lin1", "ffn.lin2",
                           "output_layer_norm"};

// The first `length` positions of a table 0, 1, 2 ...
TensorId position_ids(Builder& b, TensorId input_ids) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(kPositions));
  std::iota(all.begin(), all.end(), 0);
  return b.node("Slice",
                {b.integers("position_ids", all, {1, kPositions}), b.constant({0}), dimension(b, input_ids, 1), b.constant({1})});
}

TensorId padding_mask(Builder& b, TensorId attention_mask) {
  constexpr std::int64_t kOnnxBool = 9;
  return additive_mask(b, b.node("Cast", {b.node("Unsqueeze", {attention_mask, b.constant({1, 2})})}, {{"to", kOnnxBool}}));
}

TensorId attention(Builder& b, TensorId x, TensorId mask, const Names& names) {
  const Builder::Scope scope(b, names.attention);
  const TensorId q = split_heads(b, dense(b, names.query, x, kWidth, kWidth), kHeads, kHeadSize);
  const TensorId k = split_heads(b, dense(b, names.key, x, kWidth, kWidth), kHeads, kHeadSize);
  const TensorId v = split_heads(b, dense(b, names.value, x, kWidth, kWidth), kHeads, kHeadSize);
  return dense(b, names.out, merge_heads(b, attend(b, q, k, v, kHeadSize, mask), kWidth), kWidth, kWidth);
}

// Normalisation after each residual sum, as in the original transformer.
TensorId layer(Builder& b, TensorId x, TensorId mask, const Names& names) {
  x = layer_norm(b, names.out_norm, b.node("Add", {attention(b, x, mask, names), x}), kWidth, kEpsilon);
  const TensorId y = dense(b, names.down, gelu(b, dense(b, names.up, x, kWidth, kHidden)), kHidden, kWidth, true, kAfterGelu);
  return layer_norm(b, names.down_norm, b.node("Add", {y, x}), kWidth, kEpsilon);
}

TensorId stack(Builder& b, const std::string& name, TensorId x, TensorId mask, std::int64_t layers, const Names& names) {
  for (std::int64_t number = 0; number < layers; ++number) {
    const Builder::Scope scope(b, name + "." + std::to_string(number));
    x = layer(b, x, mask, names);
  }
  return x;
}

const graph::Shape kTokens = {"batch_size", "sequence_length"};

}  // namespace

core::Result<Blueprint> build_bert(const Entry& entry, const Config& config) {
  Builder b(entry.name, config.type);
  const TensorId ids = b.input("input_ids", ElementType::int64, kTokens);
  const TensorId attention_mask = b.input("attention_mask", ElementType::int64, kTokens);
  const TensorId segments = b.input("token_type_ids", ElementType::int64, kTokens);
  TensorId x;
  {
    const Builder::Scope scope(b, "embeddings");
    x = b.node("Add", {embed(b, "word_embeddings", ids, kVocabulary, kWidth).rows,
                       embed(b, "token_type_embeddings", segments, 2, kWidth).rows});
    x = b.node("Add", {x, embed(b, "position_embeddings", position_ids(b, ids), kPositions, kWidth).rows});
    x = layer_norm(b, "LayerNorm", x, kWidth, kEpsilon);
  }
  x = stack(b, "encoder.layer", x, padding_mask(b, attention_mask), entry.value(config, "layers"), kBert);
  const Builder::Scope pooler(b, "pooler");
  const TensorId first = b.node("Gather", {x, b.scalar(0)}, {{"axis", std::int64_t{1}}});
  const TensorId pooled = b.node("Tanh", {linear(b, "dense", first, kWidth, kWidth)});
  b.output(x, "last_hidden_state", config.type, {"batch_size", "sequence_length", kWidth});
  b.output(pooled, "pooler_output", config.type, {"batch_size", kWidth});
  return std::move(b).finish();
}

core::Result<Blueprint> build_distilbert(const Entry& entry, const Config& config) {
  Builder b(entry.name, config.type);
  const TensorId ids = b.input("input_ids", ElementType::int64, kTokens);
  const TensorId attention_mask = b.input("attention_mask", ElementType::int64, kTokens);
  TensorId x;
  {
    const Builder::Scope scope(b, "embeddings");
    x = b.node("Add", {embed(b, "word_embeddings", ids, kVocabulary, kWidth).rows,
                       embed(b, "position_embeddings", position_ids(b, ids), kPositions, kWidth).rows});
    x = layer_norm(b, "LayerNorm", x, kWidth, kEpsilon);
  }
  x = stack(b, "transformer.layer", x, padding_mask(b, attention_mask), entry.value(config, "layers"), kDistil);
  b.output(x, "last_hidden_state", config.type, {"batch_size", "sequence_length", kWidth});
  return std::move(b).finish();
}

}  // namespace aaco::runner::zoo
