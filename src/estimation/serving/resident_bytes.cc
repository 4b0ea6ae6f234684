#include <algorithm>

#include "estimation/serving/counts.h"
#include "estimation/serving/step_work.h"

namespace aaco::estimation {
namespace {

// Of one layer on one rank. Every rank has whole key and value heads, and latent attention's projections down to the ranks of
// queries and cache.
double attention_parameters(const DecoderArchitecture& m, double tensor) {
  if (!m.latent) {
    const double kept = 2 * std::max(1.0, real(m.kv_heads) / tensor) * real(m.head_dim) * real(m.hidden);
    return kept + (m.attention_parameters() - 2 * real(m.kv_heads * m.head_dim) * real(m.hidden)) / tensor;
  }
  const double down = real(m.hidden) * real(m.latent->query_rank + m.latent->cache_rank + m.latent->rotary_dim);
  return down + (m.attention_parameters() - down) / tensor;
}

// Of one parameter of a part, of which a share keeps 16 bits.
double bytes_of(const WeightType& type, const WeightType& plain, double kept) {
  return type.bytes * (1 - kept) + plain.bytes * kept;
}

// Tables of the vocabulary on a rank of the fullest stage: the first has the input's, the last the output's.
double table_bytes(const ServedModel& served) {
  const DecoderArchitecture& m = served.model;
  const double one = real(m.vocabulary) * real(m.width_of_tables()) / real(served.plan.tensor);
  const double input = one * served.plain.bytes;
  if (m.tied_embeddings) return input;
  const double output = one * bytes_of(served.dense, served.plain, m.kept.head);
  return served.plan.pipeline > 1 ? std::max(input, output) : input + output;
}

}  // namespace

double weight_bytes(const ServedModel& served) {
  const DecoderArchitecture& m = served.model;
  const double tensor = real(served.plan.tensor), hidden = real(m.hidden), matrices = m.gated ? 3 : 2;
  const auto dense = [&](double kept) { return bytes_of(served.dense, served.plain, kept); };
  double sum = real(m.layers) * attention_parameters(m, tensor) * dense(m.kept.attention);
  sum += real(m.dense_layers()) * matrices * hidden * real(m.intermediate) / tensor * dense(m.kept.dense);
  if (m.experts) {
    const double layers = real(m.expert_layers());
    sum += layers * matrices * hidden * real(m.experts->shared_intermediate) / tensor * dense(m.kept.shared);
    sum += layers * hidden * real(m.experts->count) * served.plain.bytes;  // every rank has the router
    sum += m.expert_parameters() / std::max(tensor, real(served.plan.expert)) *
           bytes_of(served.experts, served.plain, m.kept.experts);
  }
  sum += (m.other.norms + m.other.biases / tensor) * served.plain.bytes;
  return sum / real(served.plan.pipeline) + table_bytes(served) + m.other.outside * served.plain.bytes;
}

double cached_layer_bytes(const ServedModel& served) {
  const DecoderArchitecture& m = served.model;
  const double values =
      m.latent ? m.cached_values() : 2 * std::max(1.0, real(m.kv_heads) / real(served.plan.tensor)) * real(m.head_dim);
  return values * served.cache_bytes;
}

CachedBytes cached_bytes_per_token(const ServedModel& served) {
  const DecoderArchitecture& m = served.model;
  const double one = cached_layer_bytes(served) / real(served.plan.pipeline);
  const double windowed = real(m.windowed_layers - m.shared_windowed_layers);
  return {one * (real(m.layers - m.shared_cache_layers) - windowed), one * windowed};
}

}  // namespace aaco::estimation
