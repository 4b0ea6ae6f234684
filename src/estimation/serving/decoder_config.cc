#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/strings.h"
#include "estimation/serving/config_reader.h"
#include "estimation/serving/decoder_reading.h"

namespace aaco::estimation {
namespace {

// The language part of a configuration of text and images.
const core::Json& text_part(const core::Json& config) {
  for (const std::string_view key : {"text_config", "llm_config", "language_config"})
    if (config[key].is_object()) return config[key];
  return config;
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

// Of a family that is not known, by the keys that many families share.
DecoderFamily unknown_family(const core::Json& part) {
  DecoderFamily family;
  family.qkv_bias = family.out_bias = ConfigFlag{"attention_bias"};
  family.mlp_bias = ConfigFlag{"mlp_bias"};
  std::string activation;
  for (const std::string_view key : {"hidden_act", "hidden_activation", "activation_function"})
    if (part[key].is_string()) activation = core::to_lower(part[key].text());
  constexpr std::array kUngated{"relu", "relu2", "squared_relu", "xielu", "gelu_new", "gelu_fast"};
  family.gated = std::find(kUngated.begin(), kUngated.end(), activation) == kUngated.end();
  return family;
}

// Layers other than attention over a cache: their state and cost are not modelled.
core::Status check_layers(const ConfigReader& config, const DecoderArchitecture& model) {
  if (!config.family().unsupported.empty()) return config.unsupported(config.family().unsupported);
  if (config.find({"full_attention_interval", "linear_num_value_heads"}) != nullptr)
    return config.unsupported("layers of linear attention are not supported");
  if (model.family.starts_with("mamba") || model.family.starts_with("rwkv") ||
      config.find({"mamba_d_state", "ssm_cfg", "ssm_state_size", "state_size", "mamba_expand", "ssm_config"}) != nullptr)
    return config.unsupported("state-space models are not supported");
  if (config.find({"block_configs"}) != nullptr) return config.unsupported("layers of different sizes are not supported");
  if (config.find({"cross_attention_layers"}) != nullptr)
    return config.unsupported("layers of cross-attention are not supported");
  return {};
}

core::Status read_heads(ConfigReader& config, DecoderArchitecture& model) {
  AACO_ASSIGN(model.heads, config.size_or_default({"num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads"},
                                                  "heads", true));
  if (model.heads < 1) return config.wrong("\"num_attention_heads\" is not a valid size");
  if (model.hidden > (1 << 24)) return config.wrong("\"hidden_size\" is not a valid size");
  const bool grouped = config.flag("multi_query_attention", true);  // of ChatGLM
  AACO_ASSIGN(model.kv_heads, grouped ? config.size_or_default({"num_key_value_heads", "num_kv_heads", "n_head_kv",
                                                                "attn_config.kv_n_heads", "multi_query_group_num"},
                                                               "kv_heads", false, model.heads)
                                      : core::Result<std::int64_t>(model.heads));
  if (config.flag(config.family().multi_query) && !config.flag("new_decoder_architecture", false)) model.kv_heads = 1;
  const bool divides = model.hidden % model.heads == 0;
  AACO_ASSIGN(model.head_dim, config.size_or_default({"head_dim", "kv_channels", "attention_head_dim"}, "head_dim", false,
                                                     model.hidden / model.heads));
  const bool stated =
      config.find({"head_dim", "kv_channels", "attention_head_dim"}) != nullptr || config.family().usual("head_dim");
  if (!divides && !stated && !model.latent)
    return config.wrong(fmt::format("a hidden size of {} is not a multiple of {} attention heads, and there is no \"head_dim\"",
                                    model.hidden, model.heads));
  return {};
}

core::Status read_block(ConfigReader& config, DecoderArchitecture& model) {
  const DecoderFamily& family = config.family();
  std::optional<std::int64_t> usual;
  const core::Json* ratio = config.find({"expansion_ratio"});
  if (family.intermediate_ratio > 0) usual = model.hidden * family.intermediate_ratio;
  if (ratio != nullptr) {
    const auto times = ratio->as_f64();
    if (!times || !(*times > 0 && *times <= 1024)) return config.wrong("\"expansion_ratio\" is not a valid ratio");
    usual = static_cast<std::int64_t>(static_cast<double>(model.hidden) * *times);
  }
  // A model of experts alone may state only theirs.
  if (!usual && config.find({"moe_intermediate_size", "expert_intermediate_size"}) != nullptr) usual = 0;
  AACO_ASSIGN(model.intermediate, config.size_or_default({"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size",
                                                          "ffn_config.ffn_hidden_size", "d_ff", "inner_hidden_size"},
                                                         "intermediate", true, usual));
  if (model.intermediate > (1 << 24)) return config.wrong("\"intermediate_size\" is not a valid size");
  model.intermediate = static_cast<std::int64_t>(static_cast<double>(model.intermediate) * family.intermediate_share);
  model.gated = family.gated;
  return {};
}

core::Status read_sizes(ConfigReader& config, DecoderArchitecture& model) {
  AACO_ASSIGN(model.layers, config.size_or_default({"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, "layers", true));
  AACO_ASSIGN(model.hidden, config.size_or_default({"hidden_size", "n_embd", "n_embed", "d_model"}, "hidden", true));
  AACO_TRY(read_latent(config, model));
  AACO_TRY(read_heads(config, model));
  AACO_ASSIGN(model.vocabulary, config.size_or_default({"vocab_size", "padded_vocab_size"}, "vocabulary", true));
  AACO_ASSIGN(model.context, read_context(config));
  AACO_TRY(read_block(config, model));
  AACO_ASSIGN(const std::int64_t width, config.size({"word_embed_proj_dim", "embedding_size"}, 0));
  if (width != model.hidden) model.table_width = width;
  if (model.layers < 1 || model.layers > (1 << 12)) return config.wrong("\"num_hidden_layers\" is not a valid size");
  return {};
}

void note_family(ConfigReader& config, bool known, const DecoderArchitecture& model) {
  if (!known)
    config.notes().push_back(
        fmt::format("{}: costed as a decoder with {} MLP and {} embeddings",
                    model.family.empty() ? "the file has no \"model_type\"" : "unknown family '" + model.family + "'",
                    model.gated ? "a gated" : "an ungated", model.tied_embeddings ? "tied" : "untied"));
  const DecoderFamily& family = config.family();
  const core::Json* asked = family.note_key.empty() ? nullptr : config.find({family.note_key});
  if (!family.note.empty() && (family.note_key.empty() || (asked != nullptr && asked->as_i64().value_or(0) > 0)))
    config.notes().push_back(family.note);
}

core::Status refuse_encoders(const core::Json& document, const core::Json& part, const std::string& name) {
  if (is_encoder_decoder(document) || is_encoder_decoder(part))
    return core::fail(core::ErrorCode::unsupported, name + ": encoder-decoder models are not supported",
                      "pass a decoder-only language model");
  const std::string family(part["model_type"].text());
  if (is_encoder(part, family))
    return core::fail(core::ErrorCode::unsupported, name + ": a model of the family '" + family + "' is an encoder",
                      "pass a decoder-only language model");
  return {};
}

}  // namespace

core::Result<DecoderArchitecture> read_decoder(const core::Json& document, const DecoderFamilies& families,
                                               const std::string& name) {
  if (!document.is_object())
    return core::fail(core::ErrorCode::invalid_input, name + ": not a JSON object", "pass the config.json of a model");
  const core::Json& part = text_part(document);
  const bool is_part = &part != &document;
  AACO_TRY(refuse_encoders(document, part, name));
  DecoderArchitecture model;
  model.name = name;
  model.family = part["model_type"].is_string() ? part["model_type"].text() : document["model_type"].text();
  const DecoderFamily* known = families.find(model.family);
  const DecoderFamily assumed = unknown_family(part);
  ConfigReader config(part, name, known == nullptr ? assumed : *known, is_part);
  AACO_TRY(check_layers(config, model));
  AACO_TRY(read_sizes(config, model));
  model.tied_embeddings =
      config.flag("tie_word_embeddings", document["tie_word_embeddings"].as_bool().value_or(config.family().tied));
  AACO_TRY(read_window(config, model));
  AACO_ASSIGN(const std::vector<bool> has_experts, read_experts(config, model));
  AACO_TRY(check_decoder(model));
  model.other = other_parameters(model, config.family(), part);
  AACO_TRY(read_types(document, has_experts, config, model));
  AACO_TRY(check_decoder(model));
  note_family(config, known != nullptr, model);
  if (document["vision_config"].is_object() || document["audio_config"].is_object() || document["vision_tower"].is_object())
    config.notes().emplace_back("only the language part is costed: encoders of images or sound and their weights are left out");
  model.notes = std::move(config.notes());
  return model;
}

}  // namespace aaco::estimation
