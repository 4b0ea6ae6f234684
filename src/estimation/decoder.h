#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"

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

// From the `config.json` of a Hugging Face model: Llama, Mistral, Mixtral, Qwen 2, 2.5 and 3 (dense and mixture of experts),
// DeepSeek V2, V3 and R1, GPT-OSS, Gemma 1 to 3, Phi 3, and others that use the same keys. Fails with invalid_input naming the
// key that is missing or invalid, with unsupported for a configuration of another kind of model.
core::Result<DecoderArchitecture> read_decoder(const core::Json& config, const std::string& name);

// data/architectures/decoders.yaml.
core::Result<std::vector<DecoderArchitecture>> load_decoders(const std::string& path);
// By name or alias, case ignored, an owner ("meta-llama/") too; null: none.
const DecoderArchitecture* find_decoder(const std::vector<DecoderArchitecture>& decoders, std::string_view name);

// The same, with endings of published names ("-Instruct", "-FP8", "-AWQ"), which say the type of the weights.
std::optional<DecoderArchitecture> find_published(const std::vector<DecoderArchitecture>& decoders, std::string_view name);

// Refuses sizes that contradict each other or exceed any model.
core::Status check_decoder(const DecoderArchitecture& model);

}  // namespace aaco::estimation
