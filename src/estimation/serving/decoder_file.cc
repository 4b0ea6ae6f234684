#include "core/yaml.h"
#include "estimation/decoder.h"

namespace aaco::estimation {
namespace {

core::Result<std::int64_t> size_or(const core::YamlNode& node, std::string_view key, std::int64_t otherwise) {
  AACO_ASSIGN(const auto value, node.optional_i64(key));
  return value.value_or(otherwise);
}

core::Result<std::optional<ExpertSizes>> read_experts(const core::YamlNode* node) {
  if (node == nullptr) return std::optional<ExpertSizes>();
  AACO_TRY(node->only_keys({"count", "per_token", "intermediate", "shared_intermediate", "dense_layers"}));
  ExpertSizes experts;
  AACO_ASSIGN(experts.count, node->require_i64("count"));
  AACO_ASSIGN(experts.per_token, node->require_i64("per_token"));
  AACO_ASSIGN(experts.intermediate, node->require_i64("intermediate"));
  AACO_ASSIGN(experts.shared_intermediate, size_or(*node, "shared_intermediate", 0));
  AACO_ASSIGN(experts.dense_layers, size_or(*node, "dense_layers", 0));
  return std::optional(experts);
}

core::Result<std::optional<LatentAttention>> read_latent(const core::YamlNode* node) {
  if (node == nullptr) return std::optional<LatentAttention>();
  AACO_TRY(node->only_keys({"query_rank", "cache_rank", "rotary_dim", "key_dim", "value_dim"}));
  LatentAttention latent;
  AACO_ASSIGN(latent.query_rank, size_or(*node, "query_rank", 0));
  AACO_ASSIGN(latent.cache_rank, node->require_i64("cache_rank"));
  AACO_ASSIGN(latent.rotary_dim, node->require_i64("rotary_dim"));
  AACO_ASSIGN(latent.key_dim, node->require_i64("key_dim"));
  AACO_ASSIGN(latent.value_dim, node->require_i64("value_dim"));
  return std::optional(latent);
}

core::Result<DecoderArchitecture> read_one(const core::YamlNode& node) {
  AACO_TRY(node.only_keys({"name", "aliases", "family", "layers", "hidden", "heads", "kv_heads", "head_dim", "intermediate",
                           "vocabulary", "gated", "tied", "context", "window", "windowed_layers", "experts", "latent", "weights",
                           "expert_weights"}));
  DecoderArchitecture model;
  AACO_ASSIGN(model.name, node.require_string("name"));
  if (const core::YamlNode* aliases = node.find("aliases")) {
    AACO_ASSIGN(model.aliases, aliases->as_strings());
  }
  AACO_ASSIGN(model.family, node.require_string("family"));
  AACO_ASSIGN(model.layers, node.require_i64("layers"));
  AACO_ASSIGN(model.hidden, node.require_i64("hidden"));
  AACO_ASSIGN(model.heads, node.require_i64("heads"));
  AACO_ASSIGN(model.kv_heads, size_or(node, "kv_heads", model.heads));
  AACO_ASSIGN(model.head_dim, node.require_i64("head_dim"));
  AACO_ASSIGN(model.intermediate, size_or(node, "intermediate", 0));
  AACO_ASSIGN(model.vocabulary, node.require_i64("vocabulary"));
  AACO_ASSIGN(model.context, size_or(node, "context", 0));
  AACO_ASSIGN(model.window, size_or(node, "window", 0));
  AACO_ASSIGN(model.windowed_layers, size_or(node, "windowed_layers", model.window > 0 ? model.layers : 0));
  AACO_ASSIGN(const auto gated, node.optional_bool("gated"));
  AACO_ASSIGN(const auto tied, node.optional_bool("tied"));
  model.gated = gated.value_or(true);
  model.tied_embeddings = tied.value_or(false);
  AACO_ASSIGN(const auto weights, node.optional_string("weights"));
  AACO_ASSIGN(const auto expert_weights, node.optional_string("expert_weights"));
  model.weight_type = weights.value_or("bf16");
  model.expert_type = expert_weights.value_or("");
  if (model.weight_type == "fp16") model.plain_type = "fp16";
  AACO_ASSIGN(model.experts, read_experts(node.find("experts")));
  AACO_ASSIGN(model.latent, read_latent(node.find("latent")));
  if (const auto checked = check_decoder(model); !checked) return node.error(checked.error().message);
  return model;
}

}  // namespace

core::Result<std::vector<DecoderArchitecture>> load_decoders(const std::string& path) {
  AACO_ASSIGN(const core::YamlNode root, core::YamlNode::load(path));
  AACO_TRY(root.only_keys({"schema", "source", "decoders"}));
  AACO_ASSIGN(const auto schema, root.require_i64("schema"));
  if (schema != 1) return root.error("unsupported schema " + std::to_string(schema), "use a newer version of AACO");
  AACO_TRY(root.require_string("source"));
  AACO_ASSIGN(const core::YamlNode* list, root.require("decoders"));
  std::vector<DecoderArchitecture> decoders;
  for (const core::YamlNode& item : list->items()) {
    AACO_ASSIGN(DecoderArchitecture model, read_one(item));
    if (find_decoder(decoders, model.name) != nullptr) return item.error("duplicate decoder '" + model.name + "'");
    decoders.push_back(std::move(model));
  }
  return decoders;
}

}  // namespace aaco::estimation
