#include "estimation/decoder_family.h"

#include <algorithm>
#include <set>

#include "core/yaml.h"

namespace aaco::estimation {
namespace {

// What a configuration class may have a default for.
constexpr const char* kSizes[] = {"layers",
                                  "hidden",
                                  "heads",
                                  "kv_heads",
                                  "head_dim",
                                  "intermediate",
                                  "vocabulary",
                                  "context",
                                  "window",
                                  "experts",
                                  "experts_per_token",
                                  "expert_intermediate",
                                  "shared_experts",
                                  "shared_intermediate",
                                  "dense_layers"};

core::Status read_flag(const core::YamlNode& node, std::string_view key, ConfigFlag& flag) {
  AACO_ASSIGN(const auto text, node.optional_string(key));
  if (!text) return {};
  const auto parsed = parse_flag(*text);
  if (!parsed) return node.error(parsed.error().message);
  flag = *parsed;
  return {};
}

core::Status read_bool(const core::YamlNode& node, std::string_view key, bool& value) {
  AACO_ASSIGN(const auto found, node.optional_bool(key));
  value = found.value_or(value);
  return {};
}

core::Status read_count(const core::YamlNode& node, std::string_view key, std::int64_t& value) {
  AACO_ASSIGN(const auto found, node.optional_i64(key));
  value = found.value_or(value);
  if (value < 0 || value > 1024) return node.error("invalid " + std::string(key) + ": expected 0 to 1024");
  return {};
}

core::Status read_head_norm(const core::YamlNode& node, HeadNorm& norm) {
  AACO_ASSIGN(const auto text, node.optional_string("qk_norm"));
  if (!text) return {};
  if (*text == "head")
    norm = HeadNorm::head;
  else if (*text == "all")
    norm = HeadNorm::all;
  else if (*text == "heads")
    norm = HeadNorm::heads;
  else
    return node.error("invalid qk_norm '" + *text + "': expected head, all or heads");
  return {};
}

core::Status read_defaults(const core::YamlNode& node, DecoderFamily& family) {
  const core::YamlNode* defaults = node.find("defaults");
  if (defaults == nullptr) return {};
  AACO_TRY(defaults->only_keys({std::begin(kSizes), std::end(kSizes)}));
  for (const auto& [key, value] : defaults->entries()) {
    AACO_ASSIGN(const std::int64_t size, value.as_i64());
    if (size < 1) return value.error("a default below 1");
    family.defaults.emplace(key.scalar(), size);
  }
  return {};
}

core::Status read_flags(const core::YamlNode& node, DecoderFamily& family) {
  AACO_TRY(read_flag(node, "one_norm_flag", family.one_norm));
  AACO_TRY(read_flag(node, "norm_bias", family.norm_bias));
  AACO_TRY(read_flag(node, "final_norm", family.final_norm));
  AACO_TRY(read_flag(node, "embedding_norm", family.embedding_norm));
  AACO_TRY(read_flag(node, "qkv_bias", family.qkv_bias));
  AACO_TRY(read_flag(node, "out_bias", family.out_bias));
  AACO_TRY(read_flag(node, "mlp_bias", family.mlp_bias));
  AACO_TRY(read_flag(node, "head_bias", family.head_bias));
  AACO_TRY(read_flag(node, "router_bias", family.router_bias));
  AACO_TRY(read_flag(node, "expert_bias", family.expert_bias));
  AACO_TRY(read_flag(node, "qk_norm_flag", family.has_qk_norm));
  AACO_TRY(read_flag(node, "multi_query", family.multi_query));
  return read_flag(node, "window_flag", family.has_window);
}

core::Result<DecoderFamily> read_family(const core::YamlNode& node) {
  AACO_TRY(node.only_keys({"types",
                           "unsupported",
                           "note",
                           "note_key",
                           "gated",
                           "tied",
                           "norms",
                           "one_norm_flag",
                           "norm_bias",
                           "final_norm",
                           "embedding_norm",
                           "qkv_bias",
                           "out_bias",
                           "mlp_bias",
                           "head_bias",
                           "router_bias",
                           "expert_bias",
                           "inner_norms",
                           "qk_norm",
                           "qk_norm_flag",
                           "sinks",
                           "shared_gate",
                           "positions",
                           "multi_query",
                           "window_flag",
                           "window_pattern",
                           "intermediate_ratio",
                           "intermediate_share",
                           "defaults",
                           "activation_parameters",
                           "alternating_updates"}));
  DecoderFamily family;
  AACO_ASSIGN(const core::YamlNode* types, node.require("types"));
  AACO_ASSIGN(family.types, types->as_strings());
  AACO_ASSIGN(const auto unsupported, node.optional_string("unsupported"));
  AACO_ASSIGN(const auto note, node.optional_string("note"));
  AACO_ASSIGN(const auto note_key, node.optional_string("note_key"));
  family.unsupported = unsupported.value_or("");
  family.note = note.value_or("");
  family.note_key = note_key.value_or("");
  AACO_TRY(read_bool(node, "gated", family.gated));
  AACO_TRY(read_bool(node, "tied", family.tied));
  AACO_TRY(read_bool(node, "inner_norms", family.inner_norms));
  AACO_TRY(read_bool(node, "sinks", family.sinks));
  AACO_TRY(read_bool(node, "shared_gate", family.shared_gate));
  AACO_TRY(read_bool(node, "alternating_updates", family.alternating_updates));
  AACO_TRY(read_count(node, "norms", family.norms));
  AACO_TRY(read_count(node, "activation_parameters", family.activation_parameters));
  AACO_TRY(read_count(node, "window_pattern", family.window_pattern));
  AACO_TRY(read_count(node, "intermediate_ratio", family.intermediate_ratio));
  AACO_ASSIGN(const auto share, node.optional_f64("intermediate_share"));
  family.intermediate_share = share.value_or(1);
  if (!(family.intermediate_share > 0 && family.intermediate_share <= 1))
    return node.error("intermediate_share is not in (0, 1]");
  AACO_ASSIGN(family.positions, node.optional_i64("positions"));
  AACO_TRY(read_head_norm(node, family.qk_norm));
  AACO_TRY(read_flags(node, family));
  AACO_TRY(read_defaults(node, family));
  return family;
}

}  // namespace

core::Result<ConfigFlag> parse_flag(std::string_view text) {
  ConfigFlag flag;
  if (text == "true" || text == "false") {
    flag.value = text == "true";
    return flag;
  }
  if (text.starts_with('!')) {
    flag.inverted = true;
    text.remove_prefix(1);
  }
  const auto equal = text.find('=');
  flag.key = text.substr(0, equal);
  if (equal != std::string_view::npos) {
    const std::string_view value = text.substr(equal + 1);
    if (value != "true" && value != "false") flag.key.clear();
    flag.value = value == "true";
  }
  if (flag.key.empty())
    return core::fail(core::ErrorCode::invalid_input, "invalid flag: expected true, false, KEY, KEY=true or !KEY=true");
  return flag;
}

std::optional<std::int64_t> DecoderFamily::usual(const std::string& size) const {
  const auto found = defaults.find(size);
  return found == defaults.end() ? std::nullopt : std::optional(found->second);
}

bool DecoderFamily::has_type(std::string_view type) const { return std::find(types.begin(), types.end(), type) != types.end(); }

const DecoderFamily* DecoderFamilies::find(std::string_view model_type) const {
  const auto found =
      std::find_if(families_.begin(), families_.end(), [&](const DecoderFamily& family) { return family.has_type(model_type); });
  return found == families_.end() ? nullptr : &*found;
}

core::Result<DecoderFamilies> load_decoder_families(const std::string& path) {
  AACO_ASSIGN(const core::YamlNode root, core::YamlNode::load(path));
  AACO_TRY(root.only_keys({"schema", "source", "families"}));
  AACO_ASSIGN(const auto schema, root.require_i64("schema"));
  if (schema != 1) return root.error("unsupported schema " + std::to_string(schema), "use a newer version of AACO");
  AACO_TRY(root.require_string("source"));
  AACO_ASSIGN(const core::YamlNode* list, root.require("families"));
  std::vector<DecoderFamily> families;
  std::set<std::string> types;
  for (const core::YamlNode& item : list->items()) {
    AACO_ASSIGN(DecoderFamily family, read_family(item));
    for (const std::string& type : family.types)
      if (!types.insert(type).second) return item.error("duplicate family '" + type + "'");
    families.push_back(std::move(family));
  }
  return DecoderFamilies(std::move(families));
}

}  // namespace aaco::estimation
