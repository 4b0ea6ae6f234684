#include <string>

#include "estimation/decoder.h"
#include "estimation/serving/config_reader.h"
#include "estimation/serving/counts.h"

namespace aaco::estimation {
namespace {

// Of one layer, over the hidden values.
double layer_norms(const ConfigReader& config, const DecoderFamily& family) {
  const bool new_falcon = config.flag("new_decoder_architecture", false);
  const bool one = new_falcon ? config.json()["num_ln_in_parallel_attn"].as_i64() == 1 : config.flag(family.one_norm);
  return one ? 1 : real(family.norms);
}

// Of queries and keys, in one layer.
double head_norms(const DecoderArchitecture& model, const ConfigReader& config, const DecoderFamily& family) {
  if (model.latent) return real(model.latent->query_rank + model.latent->cache_rank);
  if (!config.flag(family.has_qk_norm)) return 0;
  switch (family.qk_norm) {
    case HeadNorm::none: return 0;
    case HeadNorm::head: return 2 * real(model.head_dim) * (config.flag(family.norm_bias) ? 2 : 1);
    case HeadNorm::all:
    case HeadNorm::heads: return real((model.heads + model.kv_heads) * model.head_dim);
  }
  return 0;
}

double all_norms(const DecoderArchitecture& m, const ConfigReader& config, const DecoderFamily& family) {
  const double one = real(m.hidden) * (config.flag(family.norm_bias) ? 2 : 1);
  double layer = layer_norms(config, family) * one + head_norms(m, config, family) + real(family.activation_parameters);
  if (family.inner_norms) layer += real(m.hidden + m.intermediate);
  double sum = real(m.layers) * layer;
  if (config.flag(family.final_norm)) sum += one;
  if (config.flag(family.embedding_norm)) sum += one;
  return sum;
}

double all_biases(const DecoderArchitecture& m, const ConfigReader& config, const DecoderFamily& family) {
  double layer = 0, sum = 0;
  if (config.flag(family.qkv_bias) && !m.latent) layer += real((m.heads + 2 * m.kv_heads) * m.head_dim);
  if (config.flag(family.out_bias)) layer += real(m.hidden);
  if (family.sinks) layer += real(m.heads);
  const auto block = [&](std::int64_t intermediate) { return (m.gated ? 2 : 1) * real(intermediate) + real(m.hidden); };
  if (config.flag(family.mlp_bias)) sum += real(m.dense_layers()) * block(m.intermediate);
  if (m.experts) {
    double experts = 0;
    if (config.flag(family.router_bias)) experts += real(m.experts->count);
    if (config.flag(family.expert_bias)) experts += real(m.experts->count) * block(m.experts->intermediate);
    if (family.shared_gate && m.experts->shared_intermediate > 0) experts += real(m.hidden);
    sum += real(m.expert_layers()) * experts;
  }
  if (config.flag(family.head_bias)) sum += real(m.vocabulary);
  return sum + real(m.layers) * layer;
}

// Gemma 3n (MatFormer's parent): embeddings of every layer, four alternating streams, low-rank residuals.
double alternating_updates(const DecoderArchitecture& m, const ConfigReader& config) {
  const auto size = [&](std::string_view key, std::int64_t usual) {
    const std::int64_t value = config.json()[key].as_i64().value_or(usual);
    return value >= 0 && value <= (1 << 24) ? real(value) : real(usual);
  };
  const double hidden = real(m.hidden), layers = real(m.layers), per_layer = size("hidden_size_per_layer_input", 256);
  const double streams = size("altup_num_inputs", 4), rank = size("laurel_rank", 64);
  const double layer = hidden * streams + streams * streams * streams + streams * streams + 2 * hidden  // AltUp
                       + 2 * hidden * rank + hidden                                                     // LAuReL
                       + 2 * hidden * per_layer + hidden;                                               // the layer's input
  return layers * layer + size("vocab_size_per_layer_input", 262'144) * layers * per_layer + hidden * layers * per_layer +
         per_layer + 2 * (streams - 1) * hidden * hidden;
}

}  // namespace

OtherParameters other_parameters(const DecoderArchitecture& model, const DecoderFamily& family, const core::Json& json) {
  const std::string name;
  const ConfigReader config(json, name, family, false);
  OtherParameters out{all_norms(model, config, family), all_biases(model, config, family), 0};
  if (family.positions) out.outside += real(model.context + *family.positions) * real(model.hidden);
  if (model.width_of_tables() != model.hidden) out.outside += 2 * real(model.hidden) * real(model.table_width);
  if (family.alternating_updates) out.outside += alternating_updates(model, config);
  return out;
}

}  // namespace aaco::estimation
