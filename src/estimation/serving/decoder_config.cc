#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "core/strings.h"
#include "estimation/decoder.h"

// Keys as the configuration classes of Hugging Face Transformers name them.
namespace aaco::estimation {
namespace {

class Config {
 public:
  Config(const core::Json& json, const std::string& name) : json_(json), name_(name) {}

  [[nodiscard]] tl::unexpected<core::Error> wrong(const std::string& what) const {
    return core::fail(core::ErrorCode::invalid_input, name_ + ": " + what,
                      "pass the config.json of a decoder-only language model");
  }
  // The first of the keys that is there and not null; families call the same size by different names.
  [[nodiscard]] const core::Json* find(std::initializer_list<std::string_view> keys) const {
    for (const std::string_view key : keys)
      if (!json_[key].is_null()) return &json_[key];
    return nullptr;
  }
  [[nodiscard]] core::Result<std::int64_t> size(std::initializer_list<std::string_view> keys,
                                                std::optional<std::int64_t> otherwise = std::nullopt) const {
    const core::Json* value = find(keys);
    if (value == nullptr) {
      if (otherwise) return *otherwise;
      return wrong(fmt::format("missing key \"{}\"", *keys.begin()));
    }
    const auto number = value->as_i64();
    if (!number || *number < 0) return wrong(fmt::format("\"{}\" is not a valid size", *keys.begin()));
    return *number;
  }
  [[nodiscard]] bool flag(std::string_view key, bool otherwise) const { return json_[key].as_bool().value_or(otherwise); }
  [[nodiscard]] const core::Json& json() const { return json_; }

 private:
  const core::Json& json_;
  const std::string& name_;
};

// The language part of a configuration of text and images.
const core::Json& text_part(const core::Json& config) {
  for (const std::string_view key : {"text_config", "llm_config", "language_config"})
    if (config[key].is_object()) return config[key];
  return config;
}

std::string type_of(std::string_view text) {
  if (text.ends_with("float16") && !text.ends_with("bfloat16")) return "fp16";
  return text.ends_with("float32") ? "fp32" : "bf16";
}

// What a quantisation method makes of the products' weights.
core::Status read_types(const core::Json& config, const Config& text, DecoderArchitecture& model) {
  const core::Json* plain = text.find({"torch_dtype", "dtype"});
  if (plain == nullptr && !config["torch_dtype"].is_null()) plain = &config["torch_dtype"];
  model.weight_type = type_of(plain == nullptr ? std::string_view() : plain->text());
  if (model.weight_type == "fp32") model.weight_type = "bf16";  // no stack serves FP32 weights as such
  const core::Json& quantised = config["quantization_config"];
  if (!quantised.is_object()) return {};
  const std::string method = core::to_lower(quantised["quant_method"].text());
  const std::string algorithm = core::to_lower(quantised["quant_algo"].text());
  const auto bits = quantised["bits"].as_i64();
  if (method == "mxfp4") {
    model.expert_type = "mxfp4";
    if (!model.experts) model.weight_type = "mxfp4";
  } else if (method == "fp8" || method == "fbgemm_fp8" || algorithm.starts_with("fp8")) {
    model.weight_type = "fp8";
  } else if (algorithm.starts_with("nvfp4")) {
    model.weight_type = "nvfp4";
  } else if (method == "awq" || method == "gptq" || method == "auto-round") {
    model.weight_type = bits.value_or(4) == 8 ? "int8" : "int4";
  } else if (method == "compressed-tensors") {
    std::string format = core::to_lower(quantised["format"].text());
    model.weight_type = format.find("float") != std::string::npos || format.find("naive") != std::string::npos ? "fp8"
                        : format.find("pack") != std::string::npos                                             ? "int4"
                                                                                                               : "int8";
  } else if (method == "bitsandbytes") {
    model.weight_type = quantised["load_in_4bit"].as_bool().value_or(false) ? "int4" : "int8";
  } else {
    return text.wrong("unknown quantization method '" + (method.empty() ? algorithm : method) + "'");
  }
  return {};
}

core::Status read_window(const Config& config, DecoderArchitecture& model) {
  AACO_ASSIGN(const std::int64_t window, config.size({"sliding_window"}, 0));
  if (window == 0 || !config.flag("use_sliding_window", true)) return {};
  const auto& kinds = config.json()["layer_types"].items();
  std::int64_t windowed = 0;
  for (const core::Json& kind : kinds)
    if (kind.text() == "sliding_attention") ++windowed;
  if (kinds.empty()) {
    const std::int64_t usual = model.family == "gemma2" ? 2 : model.family.starts_with("gemma3") ? 6 : 0;
    AACO_ASSIGN(const std::int64_t pattern, config.size({"sliding_window_pattern"}, usual));
    windowed = pattern > 1 ? model.layers - model.layers / pattern : model.layers;
  }
  model.window = windowed > 0 ? window : 0;
  model.windowed_layers = std::min(windowed, model.layers);
  return {};
}

core::Status read_experts(const Config& config, DecoderArchitecture& model) {
  AACO_ASSIGN(const std::int64_t count, config.size({"num_local_experts", "num_experts", "n_routed_experts"}, 0));
  if (count <= 1) return {};
  ExpertSizes experts;
  experts.count = count;
  AACO_ASSIGN(experts.per_token, config.size({"num_experts_per_tok", "experts_per_token", "moe_topk"}));
  AACO_ASSIGN(experts.intermediate, config.size({"moe_intermediate_size"}, model.intermediate));
  AACO_ASSIGN(experts.shared_intermediate, config.size({"shared_expert_intermediate_size"}, 0));
  AACO_ASSIGN(const std::int64_t shared, config.size({"n_shared_experts"}, 0));
  if (shared > 1024 || experts.intermediate > (1 << 24)) return config.wrong("\"n_shared_experts\" is not a valid size");
  if (shared > 0) experts.shared_intermediate = shared * experts.intermediate;
  AACO_ASSIGN(experts.dense_layers, config.size({"first_k_dense_replace"}, 0));
  AACO_ASSIGN(const std::int64_t step, config.size({"decoder_sparse_step"}, 1));
  if (step > 1) experts.dense_layers = model.layers - model.layers / step;
  const auto dense = static_cast<std::int64_t>(config.json()["mlp_only_layers"].items().size());
  experts.dense_layers = std::max(experts.dense_layers, dense);
  model.experts = experts;
  return {};
}

core::Status read_latent(const Config& config, DecoderArchitecture& model) {
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

}  // namespace

core::Result<DecoderArchitecture> read_decoder(const core::Json& document, const std::string& name) {
  if (!document.is_object())
    return core::fail(core::ErrorCode::invalid_input, name + ": not a JSON object", "pass the config.json of a model");
  const core::Json& part = text_part(document);
  const Config config(part, name);
  if (document["is_encoder_decoder"].as_bool().value_or(false) || !part["num_encoder_layers"].is_null())
    return core::fail(core::ErrorCode::unsupported, name + ": encoder-decoder models are not supported",
                      "pass a decoder-only language model");
  DecoderArchitecture model;
  model.name = name;
  model.family = part["model_type"].text();
  AACO_ASSIGN(model.layers, config.size({"num_hidden_layers", "n_layer", "num_layers"}));
  AACO_ASSIGN(model.hidden, config.size({"hidden_size", "n_embd", "d_model"}));
  // Configurations of Gemma 3 leave out what equals the defaults of its class.
  const bool gemma3 = model.family == "gemma3_text" || model.family == "gemma3";
  const auto usual = [&](std::int64_t value) { return gemma3 ? std::optional(value) : std::nullopt; };
  AACO_ASSIGN(model.heads, config.size({"num_attention_heads", "n_head", "n_heads"}, usual(8)));
  AACO_ASSIGN(model.kv_heads, config.size({"num_key_value_heads", "num_kv_heads"}, usual(4).value_or(model.heads)));
  if (model.heads < 1) return config.wrong("\"num_attention_heads\" is not a valid size");
  AACO_ASSIGN(model.head_dim, config.size({"head_dim"}, usual(256).value_or(model.hidden / model.heads)));
  AACO_ASSIGN(model.vocabulary, config.size({"vocab_size"}, usual(262'208)));
  AACO_ASSIGN(model.context, config.size({"max_position_embeddings", "n_positions", "seq_length"}, 0));
  const bool four = model.family.starts_with("gpt") && part["intermediate_size"].is_null();  // GPT-2, GPT-J: four times the width
  if (model.hidden > (1 << 24)) return config.wrong("\"hidden_size\" is not a valid size");
  AACO_ASSIGN(model.intermediate,
              config.size({"intermediate_size", "n_inner", "ffn_dim"}, four ? std::optional(4 * model.hidden) : std::nullopt));
  // Families whose feed-forward block has no gate.
  for (const std::string_view family : {"gpt2", "gptj", "gpt_neox", "opt", "phi", "falcon", "bloom", "mpt", "starcoder2"})
    if (model.family == family) model.gated = false;
  model.tied_embeddings =
      config.flag("tie_word_embeddings", document["tie_word_embeddings"].as_bool().value_or(model.family.starts_with("gemma")));
  AACO_TRY(read_window(config, model));
  AACO_TRY(read_experts(config, model));
  AACO_TRY(read_latent(config, model));
  AACO_TRY(read_types(document, config, model));
  AACO_TRY(check_decoder(model));
  return model;
}

}  // namespace aaco::estimation
