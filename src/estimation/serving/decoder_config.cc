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

// AMD Quark states the type of the weights: fp8_e4m3, int8, int4, uint4, or fp4 with a scale per group.
core::Result<std::string> quark_type(const core::Json& quantised, const Config& text) {
  const core::Json* weight = &quantised["global_quant_config"]["weight"];
  if (weight->is_array() && !weight->items().empty()) weight = &weight->items().front();  // scales quantised once more
  const std::string type = core::to_lower((*weight)["dtype"].text());
  if (type.starts_with("fp8")) return std::string("fp8");
  if (type.starts_with("fp4") || type.starts_with("mx_fp4") || type.starts_with("mxfp4")) return std::string("mxfp4");
  if (type == "int8" || type == "uint8") return std::string("int8");
  if (type == "int4" || type == "uint4") return std::string("int4");
  return text.wrong("unknown weight type '" + type + "' of quantization method 'quark'");
}

// compressed-tensors states bits and type in its groups, of which the first counts; older files have the format's name alone.
core::Result<std::string> compressed_type(const core::Json& quantised, const Config& text) {
  const std::string format = core::to_lower(quantised["format"].text());
  const auto& groups = quantised["config_groups"].members();
  const core::Json* weights = groups.empty() ? nullptr : &groups.begin()->second["weights"];
  const auto bits = weights == nullptr ? std::nullopt : (*weights)["num_bits"].as_i64();
  if (!bits) {
    if (format.find("float") != std::string::npos || format.find("naive") != std::string::npos) return std::string("fp8");
    return std::string(format.find("pack") != std::string::npos ? "int4" : "int8");
  }
  const bool floats = core::to_lower((*weights)["type"].text()) == "float";
  if (*bits == 8) return std::string(floats ? "fp8" : "int8");
  if (*bits == 4 && floats) return std::string(format.starts_with("nvfp4") ? "nvfp4" : "mxfp4");
  if (*bits == 4) return std::string("int4");
  return text.wrong(fmt::format("weights of {} bits are not supported: expected 4 or 8", *bits));
}

// What a quantisation method makes of the products' weights.
core::Status read_types(const core::Json& config, const Config& text, DecoderArchitecture& model) {
  const core::Json* plain = text.find({"torch_dtype", "dtype"});
  if (plain == nullptr && !config["torch_dtype"].is_null()) plain = &config["torch_dtype"];
  model.weight_type = type_of(plain == nullptr ? std::string_view() : plain->text());
  if (model.weight_type == "fp32") model.weight_type = "bf16";  // no stack serves FP32 weights as such
  const core::Json& quantised = config["quantization_config"];
  if (quantised.is_null()) return {};
  if (!quantised.is_object()) return text.wrong("\"quantization_config\" is not an object");
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
    if (bits.value_or(4) != 4 && bits.value_or(4) != 8)
      return text.wrong(fmt::format("weights of {} bits are not supported: expected 4 or 8", *bits));
    model.weight_type = bits.value_or(4) == 8 ? "int8" : "int4";
  } else if (method == "quark") {
    AACO_ASSIGN(model.weight_type, quark_type(quantised, text));
  } else if (method == "compressed-tensors") {
    AACO_ASSIGN(model.weight_type, compressed_type(quantised, text));
  } else if (method == "bitsandbytes") {
    model.weight_type = quantised["load_in_4bit"].as_bool().value_or(false) ? "int4" : "int8";
  } else {
    return text.wrong("unknown quantization method '" + (method.empty() ? algorithm : method) + "'");
  }
  return {};
}

// Layers other than attention over a cache: their state and cost are not modelled.
core::Status check_layers(const Config& config, const DecoderArchitecture& model, const std::string& name) {
  const auto unsupported = [&](const std::string& what) {
    return core::fail(core::ErrorCode::unsupported, name + ": " + what + " are not supported",
                      "only layers of full, sliding-window and latent attention have estimates");
  };
  const auto& kinds = config.json()["layer_types"].items();
  if (!kinds.empty() && static_cast<std::int64_t>(kinds.size()) != model.layers)
    return config.wrong(fmt::format("\"layer_types\" has {} entries for {} layers", kinds.size(), model.layers));
  for (const core::Json& kind : kinds)
    if (kind.text() != "full_attention" && kind.text() != "sliding_attention" && kind.text() != "chunked_attention")
      return unsupported("layers of type '" + std::string(kind.text()) + "'");
  if (config.find({"full_attention_interval", "linear_num_value_heads"}) != nullptr)
    return unsupported("layers of linear attention");
  if (model.family.starts_with("mamba") || model.family.starts_with("rwkv") ||
      config.find({"mamba_d_state", "ssm_cfg", "ssm_state_size", "state_size"}) != nullptr)
    return unsupported("state-space layers");
  return {};
}

bool is_encoder(const core::Json& config, const std::string& family) {
  if (config["is_decoder"].as_bool().value_or(false)) return false;
  for (const std::string_view encoder : {"bert", "roberta", "distilbert", "xlm-roberta", "electra", "albert", "deberta",
                                         "deberta-v2", "modernbert", "camembert", "mpnet", "nomic_bert", "vit", "clip", "siglip"})
    if (family == encoder) return true;
  return false;
}

// Real files say so. One cut down to its sizes is told by its family or by the keys of a second stack.
bool is_encoder_decoder(const core::Json& config) {
  if (config["is_encoder_decoder"].as_bool().value_or(false)) return true;
  if (config["is_decoder"].as_bool().value_or(false)) return false;
  for (const std::string_view key : {"num_encoder_layers", "encoder_layers", "num_decoder_layers"})
    if (!config[key].is_null()) return true;
  const std::string family(config["model_type"].text());
  if (family.starts_with("t5")) return true;
  for (const std::string_view one : {"mt5", "umt5", "longt5", "switch_transformers", "bart", "mbart", "pegasus", "marian",
                                     "m2m_100", "nllb-moe", "blenderbot", "whisper", "led", "prophetnet", "encoder-decoder"})
    if (family == one) return true;
  return false;
}

// Families whose configuration class ties both tables unless told otherwise.
bool usually_tied(const std::string& family) {
  if (family.starts_with("gemma")) return true;
  for (const std::string_view tied : {"gpt2", "opt", "falcon", "bloom", "mpt", "gpt_bigcode", "cohere", "cohere2"})
    if (family == tied) return true;
  return false;
}

// Llama 4: every layer of experts has a shared one of the same size; layers between them are dense.
core::Status read_llama4(const Config& config, DecoderArchitecture& model) {
  if (!model.family.starts_with("llama4") || !model.experts) return {};
  model.experts->shared_intermediate = model.experts->intermediate;
  AACO_ASSIGN(const std::int64_t step, config.size({"interleave_moe_layer_step"}, 1));
  if (step > 1) model.experts->dense_layers = model.layers - model.layers / step;
  AACO_ASSIGN(model.intermediate, config.size({"intermediate_size_mlp"}, model.intermediate));
  return {};
}

core::Status read_window(const Config& config, DecoderArchitecture& model) {
  const bool qwen = model.family.starts_with("qwen2") || model.family.starts_with("qwen3");
  AACO_ASSIGN(const std::int64_t window, config.size({"sliding_window"}, 0));
  if (window == 0 || !config.flag("use_sliding_window", !qwen)) return {};
  const auto& kinds = config.json()["layer_types"].items();
  std::int64_t windowed = 0;
  for (const core::Json& kind : kinds)
    if (kind.text() == "sliding_attention") ++windowed;
  if (kinds.empty()) {
    const bool every_other = model.family == "gemma2" || model.family == "gpt_oss";
    const std::int64_t usual = every_other ? 2 : model.family.starts_with("gemma3") ? 6 : model.family == "cohere2" ? 4 : 0;
    AACO_ASSIGN(const std::int64_t pattern, config.size({"sliding_window_pattern"}, usual));
    windowed = pattern > 1 ? model.layers - model.layers / pattern : model.layers;
    // Of Qwen, the layers from this one on.
    AACO_ASSIGN(const std::int64_t first, config.size({"max_window_layers"}, qwen ? 28 : 0));
    if (qwen) windowed = std::max<std::int64_t>(0, model.layers - first);
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
  if (is_encoder_decoder(document) || is_encoder_decoder(part))
    return core::fail(core::ErrorCode::unsupported, name + ": encoder-decoder models are not supported",
                      "pass a decoder-only language model");
  DecoderArchitecture model;
  model.name = name;
  model.family = part["model_type"].text();
  if (is_encoder(part, model.family))
    return core::fail(core::ErrorCode::unsupported, name + ": a model of the family '" + model.family + "' is an encoder",
                      "pass a decoder-only language model");
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
  // GPT-2, GPT-J, Falcon, BLOOM: four times the width.
  const bool four =
      (model.family.starts_with("gpt") || model.family == "falcon" || model.family == "bloom" || model.family == "mpt") &&
      part["intermediate_size"].is_null();
  if (part["multi_query"].as_bool().value_or(false) && !part["new_decoder_architecture"].as_bool().value_or(false))
    model.kv_heads = 1;
  if (model.hidden > (1 << 24)) return config.wrong("\"hidden_size\" is not a valid size");
  AACO_ASSIGN(model.intermediate,
              config.size({"intermediate_size", "n_inner", "ffn_dim"}, four ? std::optional(4 * model.hidden) : std::nullopt));
  // Families whose feed-forward block has no gate.
  for (const std::string_view family : {"gpt2", "gptj", "gpt_neox", "opt", "phi", "falcon", "bloom", "mpt", "starcoder2"})
    if (model.family == family) model.gated = false;
  model.tied_embeddings =
      config.flag("tie_word_embeddings", document["tie_word_embeddings"].as_bool().value_or(usually_tied(model.family)));
  AACO_TRY(check_layers(config, model, name));
  AACO_TRY(read_window(config, model));
  AACO_TRY(read_experts(config, model));
  AACO_TRY(read_llama4(config, model));
  AACO_TRY(read_latent(config, model));
  AACO_TRY(read_types(document, config, model));
  AACO_TRY(check_decoder(model));
  return model;
}

}  // namespace aaco::estimation
