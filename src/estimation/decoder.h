#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "estimation/decoder_family.h"

// Decoder-only language models by their sizes: what their cost as a served model follows from.
namespace aaco::estimation {

// Fused experts of a layer (mixture of experts).
struct ExpertSizes {
  std::int64_t count = 0, per_token = 0;
  std::int64_t intermediate = 0;         // of one expert
  std::int64_t shared_intermediate = 0;  // of the experts every token visits, together; 0: none
  std::int64_t dense_layers = 0;         // layers with a plain feed-forward block instead
  auto operator<=>(const ExpertSizes&) const = default;
};

// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1): the cache holds one latent vector and one rotary key
// per token for all heads.
struct LatentAttention {
  std::int64_t query_rank = 0;  // 0: queries are projected directly
  std::int64_t cache_rank = 0, rotary_dim = 0, key_dim = 0, value_dim = 0;
  auto operator<=>(const LatentAttention&) const = default;
};

// Parameters that are in no product of a layer: they keep 16 bits.
struct OtherParameters {
  double norms = 0;    // of all layers, whole on every rank
  double biases = 0;   // of all layers, with the router's and the vocabulary's, shared among ranks
  double outside = 0;  // tables of positions and what else stands before or behind the layers
  [[nodiscard]] double sum() const { return norms + biases + outside; }
  bool operator==(const OtherParameters&) const = default;
};

// Shares of the parameters of each part that keep 16 bits though the model's weights are of a narrower type.
struct KeptShares {
  double attention = 0, dense = 0, shared = 0, experts = 0;
  double head = 1;  // of the output table; 0: it has the type of the other weights
  bool operator==(const KeptShares&) const = default;
};

struct DecoderArchitecture {
  std::string name;  // as published
  std::vector<std::string> aliases;
  std::string family;  // model_type of its configuration
  std::int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, intermediate = 0, vocabulary = 0;
  bool gated = true;  // three matrices per feed-forward block (SwiGLU), else two
  bool tied_embeddings = false;
  std::int64_t context = 0;                      // longest sequence; 0: not stated
  std::int64_t window = 0, windowed_layers = 0;  // sliding-window attention; 0: none
  std::optional<ExpertSizes> experts;
  std::optional<LatentAttention> latent;
  std::string weight_type = "bf16";  // of products as published: bf16, fp16, fp8, int8, int4, mxfp4
  std::string expert_type;           // of the experts; empty: weight_type
  std::string plain_type = "bf16";   // of what keeps 16 bits: bf16, fp16
  std::string cache_type;            // that the configuration asks for; empty: the plain type
  KeptShares kept;
  double packed_bytes = 0;       // of one quantised weight with its scales; 0: as usual for the type
  OtherParameters other;         //
  std::int64_t table_width = 0;  // of the vocabulary's tables; 0: hidden
  // Layers that read the cache of an earlier one, and those of them with a window.
  std::int64_t shared_cache_layers = 0, shared_windowed_layers = 0;
  std::vector<std::string> notes;  // what was assumed or left out when the configuration was read

  [[nodiscard]] std::int64_t width_of_tables() const { return table_width > 0 ? table_width : hidden; }
  [[nodiscard]] std::int64_t dense_layers() const { return experts ? experts->dense_layers : layers; }
  [[nodiscard]] std::int64_t expert_layers() const { return layers - dense_layers(); }
  // Of one layer: all projections of attention.
  [[nodiscard]] double attention_parameters() const;
  [[nodiscard]] double expert_parameters() const;     // of all experts of all layers, shared ones left out
  [[nodiscard]] double embedding_parameters() const;  // input and output tables
  [[nodiscard]] double parameters() const;
  [[nodiscard]] double active_parameters() const;  // that one token visits
  // Cached values of one token in one layer.
  [[nodiscard]] double cached_values() const;
  bool operator==(const DecoderArchitecture&) const = default;
};

// From the `config.json` of a Hugging Face model of one of the families, or of another with the same keys (a note says so). Fails
// with invalid_input naming the key that is missing or invalid, with unsupported for a configuration of another kind of model.
core::Result<DecoderArchitecture> read_decoder(const core::Json& config, const DecoderFamilies& families,
                                               const std::string& name);

// Norms, biases and tables of positions by the family; `config`: for its flags, null for those of the class. Sizes must be set.
OtherParameters other_parameters(const DecoderArchitecture& model, const DecoderFamily& family, const core::Json& config);

// data/architectures/decoders.yaml.
core::Result<std::vector<DecoderArchitecture>> load_decoders(const std::string& path);
// By name or alias, case ignored, an owner ("meta-llama/") too; null: none.
const DecoderArchitecture* find_decoder(const std::vector<DecoderArchitecture>& decoders, std::string_view name);

// The same, with endings of published names ("-Instruct", "-FP8", "-AWQ"), which say the type of the weights.
std::optional<DecoderArchitecture> find_published(const std::vector<DecoderArchitecture>& decoders, std::string_view name);

// Refuses sizes that contradict each other or exceed any model.
core::Status check_decoder(const DecoderArchitecture& model);

}  // namespace aaco::estimation
