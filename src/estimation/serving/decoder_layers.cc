#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "estimation/serving/decoder_reading.h"

namespace aaco::estimation {
namespace {

constexpr std::int64_t kMaxLayers = 1 << 16, kMaxSize = 1 << 24;

// The scaling of the layers with full attention, in the old form, the new one, or the new one by kind of layer.
const core::Json& rope_scaling(const core::Json& config) {
  for (const std::string_view key : {"rope_scaling", "rope_parameters"}) {
    const core::Json& scaling = config[key];
    if (!scaling.is_object()) continue;
    return scaling["full_attention"].is_object() ? scaling["full_attention"] : scaling;
  }
  return config["rope_scaling"];
}

// Layers of a window by the lists that families write down; empty: no list.
core::Result<std::optional<std::vector<bool>>> listed_windows(const ConfigReader& config, std::int64_t layers) {
  std::vector<bool> windowed;
  for (const std::string_view key : {"layer_types", "attention_layers", "no_rope_layers"}) {
    const auto& kinds = config.json()[key].items();
    if (kinds.empty()) continue;
    if (static_cast<std::int64_t>(kinds.size()) != layers)
      return config.wrong(fmt::format("\"{}\" has {} entries for {} layers", key, kinds.size(), layers));
    if (key == "no_rope_layers" && !config.family().usual("window")) continue;  // of families without windows
    for (const core::Json& kind : kinds) {
      const std::string_view text = kind.text();
      if (key == "layer_types" && text != "full_attention" && text != "sliding_attention" && text != "chunked_attention" &&
          text != "attention")
        return config.unsupported("layers of type '" + std::string(text) + "' are not supported");
      windowed.push_back(text == "sliding_attention" || text == "chunked_attention" || text == "local" || kind.as_i64() == 1);
    }
    return std::optional(std::move(windowed));
  }
  return std::optional<std::vector<bool>>();
}

core::Result<std::vector<bool>> windowed_layers(const ConfigReader& config, std::int64_t layers) {
  AACO_ASSIGN(auto listed, listed_windows(config, layers));
  if (listed) return std::move(*listed);
  std::int64_t pattern = config.family().window_pattern;
  if (const core::Json* stated = config.find({"sliding_window_pattern", "_sliding_window_pattern"})) {
    pattern = stated->is_string() ? static_cast<std::int64_t>(stated->text().size()) : stated->as_i64().value_or(-1);  // "LLLG"
    if (pattern < 0) return config.wrong("\"sliding_window_pattern\" is not a valid size");
  }
  std::vector<bool> windowed(static_cast<std::size_t>(layers), true);
  if (pattern > 1)
    for (std::int64_t i = pattern - 1; i < layers; i += pattern) windowed[static_cast<std::size_t>(i)] = false;
  // Of Qwen, the layers from this one on.
  if (config.find({"max_window_layers"}) != nullptr || !config.family().has_window.key.empty()) {
    AACO_ASSIGN(const std::int64_t first, config.size({"max_window_layers"}, 28));
    for (std::int64_t i = 0; i < std::min(first, layers); ++i) windowed[static_cast<std::size_t>(i)] = false;
  }
  return windowed;
}

// Llama 4: every layer of experts has a shared one of the same size; layers between them are dense.
core::Status read_llama4(const ConfigReader& config, DecoderArchitecture& model, std::vector<bool>& has_experts) {
  if (!model.family.starts_with("llama4")) return {};
  model.experts->shared_intermediate = model.experts->intermediate;
  AACO_ASSIGN(const std::int64_t step, config.size({"interleave_moe_layer_step"}, 1));
  for (std::size_t i = 0; i < has_experts.size() && step > 1; ++i) has_experts[i] = (i + 1) % static_cast<std::size_t>(step) == 0;
  AACO_ASSIGN(model.intermediate, config.size({"intermediate_size_mlp"}, model.intermediate));
  return {};
}

core::Result<std::vector<bool>> layers_of_experts(ConfigReader& config, std::int64_t layers) {
  std::vector<bool> out(static_cast<std::size_t>(layers), true);
  AACO_ASSIGN(const std::int64_t dense,
              config.size_or_default({"first_k_dense_replace", "moe_layer_start_index"}, "dense_layers", false, 0));
  AACO_ASSIGN(const std::int64_t last,
              config.find({"moe_layer_end_index"}) != nullptr && config.find({"moe_layer_end_index"})->as_i64().value_or(-1) < 0
                  ? core::Result<std::int64_t>(layers - 1)
                  : config.size({"moe_layer_end_index"}, layers - 1));
  const bool lists = config.json()["moe_layer_freq"].is_array();
  AACO_ASSIGN(const std::int64_t step, lists ? core::Result<std::int64_t>(1)
                                             : config.size({"decoder_sparse_step", "moe_layer_freq", "moe_layer_interval"}, 1));
  // Qwen counts from 1, DeepSeek from 0.
  const bool from_one = config.find({"decoder_sparse_step", "moe_layer_interval"}) != nullptr;
  for (std::int64_t i = 0; i < layers; ++i)
    out[static_cast<std::size_t>(i)] = i >= dense && i <= last && (step <= 1 || (i + (from_one ? 1 : 0)) % step == 0);
  for (const core::Json& one : config.json()["mlp_only_layers"].items())
    if (const auto i = one.as_i64(); i && *i >= 0 && *i < layers) out[static_cast<std::size_t>(*i)] = false;
  if (lists) {
    const auto& kinds = config.json()["moe_layer_freq"].items();
    for (std::size_t i = 0; i < kinds.size() && i < out.size(); ++i) out[i] = kinds[i].as_i64() == 1;
  }
  return out;
}

}  // namespace

core::Result<std::int64_t> read_context(ConfigReader& config) {
  // Command R: what it was tuned for is longer.
  const bool cohere = config.family().has_type("cohere") && config.find({"model_max_length"}) != nullptr;
  AACO_ASSIGN(const std::int64_t stated,
              cohere ? config.size({"model_max_length"})
                     : config.size({"max_position_embeddings", "n_positions", "n_ctx", "seq_length", "max_seq_len",
                                    "max_sequence_length", "model_max_length", "max_length"},
                                   config.family().usual("context").value_or(0)));
  const core::Json& scaling = rope_scaling(config.json());
  if (scaling.is_null()) return stated;
  if (!scaling.is_object()) return config.wrong("\"rope_scaling\" is not an object");
  const std::string_view kind = scaling["rope_type"].is_string() ? scaling["rope_type"].text() : scaling["type"].text();
  const bool yarn = kind == "yarn" || kind == "deepseek_yarn";
  if (!yarn && kind != "linear" && kind != "dynamic") return stated;
  if (config.family().has_type("gemma3")) return stated;  // scaled within its length
  const double factor = scaling["factor"].as_f64().value_or(1);
  if (!(factor >= 1 && factor <= 1e6)) return config.wrong("the factor of \"rope_scaling\" is invalid");
  std::int64_t original = stated;
  if (yarn && !scaling["original_max_position_embeddings"].is_null()) {
    const auto length = scaling["original_max_position_embeddings"].as_i64();
    if (!length || *length < 1) return config.wrong("\"original_max_position_embeddings\" is not a valid size");
    original = *length;
  }
  return static_cast<std::int64_t>(std::llround(std::min(static_cast<double>(original) * factor, 1e12)));
}

core::Status read_window(ConfigReader& config, DecoderArchitecture& model) {
  AACO_TRY(listed_windows(config, model.layers));  // kinds that have no estimate are refused with and without a window
  AACO_ASSIGN(model.shared_cache_layers, config.size({"num_kv_shared_layers"}, config.family().alternating_updates ? 15 : 0));
  if (model.shared_cache_layers >= model.layers) model.shared_cache_layers = 0;
  if (!config.flag(config.family().has_window)) return {};
  if (!config.flag("use_sliding_window", true)) return {};
  AACO_ASSIGN(const std::int64_t window,
              config.size_or_default({"sliding_window", "window_size", "attention_chunk_size"}, "window", false, 0));
  if (window == 0) return {};
  AACO_ASSIGN(const std::vector<bool> windowed, windowed_layers(config, model.layers));
  model.windowed_layers = std::count(windowed.begin(), windowed.end(), true);
  model.window = model.windowed_layers > 0 ? window : 0;
  model.shared_windowed_layers = std::count(windowed.end() - model.shared_cache_layers, windowed.end(), true);
  return {};
}

core::Result<std::vector<bool>> read_experts(ConfigReader& config, DecoderArchitecture& model) {
  const std::vector<bool> none(static_cast<std::size_t>(std::min(model.layers, kMaxLayers)), false);
  AACO_ASSIGN(const std::int64_t count, config.size_or_default({"num_local_experts", "num_experts", "n_routed_experts",
                                                                "moe_num_experts", "ffn_config.moe_num_experts"},
                                                               "experts", false, 0));
  if (count <= 1 || model.layers > kMaxLayers) return none;
  ExpertSizes experts;
  experts.count = count;
  AACO_ASSIGN(experts.per_token, config.size_or_default({"num_experts_per_tok", "experts_per_token", "num_experts_per_token",
                                                         "moe_topk", "moe_top_k", "moe_k", "ffn_config.moe_top_k"},
                                                        "experts_per_token", false));
  AACO_ASSIGN(experts.intermediate, config.size_or_default({"moe_intermediate_size", "expert_intermediate_size"},
                                                           "expert_intermediate", false, model.intermediate));
  AACO_ASSIGN(experts.shared_intermediate, config.size_or_default({"shared_expert_intermediate_size", "shared_intermediate_size"},
                                                                  "shared_intermediate", false, 0));
  AACO_ASSIGN(const std::int64_t shared,
              config.size_or_default({"n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts"},
                                     "shared_experts", false, 0));
  if (shared > 1024 || experts.intermediate > kMaxSize) return config.wrong("\"n_shared_experts\" is not a valid size");
  if (shared > 0 && experts.shared_intermediate == 0) experts.shared_intermediate = shared * experts.intermediate;
  model.experts = experts;
  AACO_ASSIGN(std::vector<bool> has_experts, layers_of_experts(config, model.layers));
  AACO_TRY(read_llama4(config, model, has_experts));
  model.experts->dense_layers = std::count(has_experts.begin(), has_experts.end(), false);
  return has_experts;
}

core::Status read_latent(ConfigReader& config, DecoderArchitecture& model) {
  if (config.find({"kv_lora_rank"}) == nullptr) return {};
  LatentAttention latent;
  AACO_ASSIGN(latent.query_rank, config.size({"q_lora_rank"}, 0));
  AACO_ASSIGN(latent.cache_rank, config.size({"kv_lora_rank"}));
  AACO_ASSIGN(latent.rotary_dim, config.size({"qk_rope_head_dim"}));
  AACO_ASSIGN(latent.key_dim, config.size({"qk_nope_head_dim"}));
  AACO_ASSIGN(latent.value_dim, config.size({"v_head_dim"}));
  model.latent = latent;
  return {};
}

}  // namespace aaco::estimation
