#include <algorithm>

#include "core/strings.h"
#include "core/yaml.h"
#include "estimation/serving.h"

namespace aaco::estimation {
namespace {

template <std::size_t N, class Term>
core::Status read_coefficients(const core::YamlNode& root, std::string_view key, std::array<double, N>& out) {
  AACO_ASSIGN(const core::YamlNode* node, root.require(key));
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < N; ++i) names.push_back(to_string(static_cast<Term>(i)));
  AACO_TRY(node->only_keys(names));
  for (std::size_t i = 0; i < N; ++i) {
    AACO_ASSIGN(out[i], node->require_f64(names[i]));
    if (!(out[i] > 0) || out[i] > 1e3)
      return node->error("invalid coefficient " + std::string(names[i]) + ": expected 0 to 1000");
  }
  return {};
}

core::Status read_bounds(const core::YamlNode& root, std::string_view key, double& low, double& high) {
  AACO_ASSIGN(const core::YamlNode* node, root.require(key));
  AACO_ASSIGN(const std::vector<double> bounds, node->as_f64s());
  if (bounds.size() != 2 || !(bounds[0] < 0) || !(bounds[1] > 0) || bounds[0] < -5 || bounds[1] > 5)
    return node->error("expected [LOW, HIGH], logarithms below and above 0");
  low = bounds[0];
  high = bounds[1];
  return {};
}

core::Result<ServingStack> read_stack(const core::YamlNode& node) {
  AACO_TRY(node.only_keys({"name", "aliases", "chunk_tokens", "narrow_cache", "first_token_s", "spread"}));
  ServingStack stack;
  AACO_ASSIGN(stack.name, node.require_string("name"));
  if (const core::YamlNode* aliases = node.find("aliases")) {
    AACO_ASSIGN(stack.aliases, aliases->as_strings());
  }
  AACO_ASSIGN(stack.chunk_tokens, node.require_i64("chunk_tokens"));
  if (stack.chunk_tokens < 1) return node.error("invalid chunk_tokens: expected 1 or more");
  AACO_ASSIGN(const auto narrow, node.optional_bool("narrow_cache"));
  stack.narrow_cache = narrow.value_or(false);
  AACO_ASSIGN(stack.first_token_s, node.require_f64("first_token_s"));
  if (!(stack.first_token_s >= 0) || stack.first_token_s > 10) return node.error("invalid first_token_s: expected 0 to 10");
  AACO_ASSIGN(const auto spread, node.optional_f64("spread"));
  stack.spread = spread.value_or(0);
  if (stack.spread < 0 || stack.spread > 2) return node.error("invalid spread: expected 0 to 2");
  return stack;
}

core::Result<AchievedRate> read_achieved(const core::YamlNode& node) {
  AACO_TRY(node.only_keys({"vendor", "type", "ratio", "memory_ratio"}));
  AchievedRate rate;
  AACO_ASSIGN(const auto vendor, node.optional_string("vendor"));
  AACO_ASSIGN(const auto type, node.optional_string("type"));
  rate.vendor = vendor.value_or("");
  rate.type = type.value_or("");
  AACO_ASSIGN(rate.ratio, node.require_f64("ratio"));
  AACO_ASSIGN(rate.memory_ratio, node.optional_f64("memory_ratio"));
  for (const double ratio : {rate.ratio, rate.memory_ratio.value_or(1)})
    if (!(ratio > 0) || ratio > 1) return node.error("invalid ratio: expected 0 to 1");
  return rate;
}

core::Result<StackVersion> read_version(const core::YamlNode& node) {
  AACO_TRY(node.only_keys({"stack", "version", "points", "error"}));
  StackVersion version;
  AACO_ASSIGN(version.stack, node.require_string("stack"));
  AACO_ASSIGN(version.version, node.require_string("version"));
  AACO_ASSIGN(version.points, node.require_i64("points"));
  AACO_ASSIGN(version.error, node.require_f64("error"));
  if (version.points < 1 || version.error < 0) return node.error("invalid points or error: expected a positive number");
  return version;
}

core::Result<double> positive(const core::YamlNode& node, std::string_view key) {
  AACO_ASSIGN(const double value, node.require_f64(key));
  if (!(value > 0)) return node.error("invalid " + std::string(key) + ": expected a positive number");
  return value;
}

}  // namespace

core::Result<const ServingStack*> ServingRules::stack(std::string_view name) const {
  std::string wanted = core::to_lower(name);
  wanted = wanted.substr(0, wanted.find('@'));  // versions share conventions
  std::vector<std::string> names;
  for (const ServingStack& one : stacks) {
    if (one.name == wanted || std::find(one.aliases.begin(), one.aliases.end(), wanted) != one.aliases.end()) return &one;
    names.push_back(one.name);
  }
  return core::fail(core::ErrorCode::not_found, "unknown serving stack '" + std::string(name) + "'",
                    "known stacks: " + core::join(names, ", "));
}

bool ServingRules::saw_device(std::string_view id) const {
  return std::find(devices.begin(), devices.end(), id) != devices.end();
}

bool ServingRules::saw_type(std::string_view type) const { return std::find(types.begin(), types.end(), type) != types.end(); }

AchievedRate ServingRules::achieved_rate(std::string_view vendor, std::string_view type) const {
  for (const AchievedRate& rate : achieved)
    if ((rate.vendor.empty() || rate.vendor == vendor) && (rate.type.empty() || rate.type == type)) return rate;
  return {};
}

const AchievedRate* ServingRules::experts_rate(std::string_view vendor, std::string_view type) const {
  const auto found = std::find_if(experts.begin(), experts.end(),
                                  [&](const AchievedRate& rate) { return rate.vendor == vendor && rate.type == type; });
  return found == experts.end() ? nullptr : &*found;
}

core::Result<ServingRules> load_serving_rules(const std::string& path) {
  AACO_ASSIGN(const core::YamlNode root, core::YamlNode::load(path));
  AACO_TRY(root.only_keys({"schema",
                           "source",
                           "coefficients",
                           "specified",
                           "first_token_steps",
                           "bounds",
                           "first_token_bounds",
                           "devices",
                           "types",
                           "other_device_widening",
                           "rows",
                           "rows_sha256",
                           "models",
                           "mean_error",
                           "achieved",
                           "experts",
                           "memory_ratio",
                           "runtime_bytes",
                           "node_gpus",
                           "network_bytes_per_s",
                           "stacks",
                           "versions"}));
  AACO_ASSIGN(const auto schema, root.require_i64("schema"));
  if (schema != 1) return root.error("unsupported schema " + std::to_string(schema), "use a newer version of AACO");
  AACO_TRY(root.require_string("source"));
  ServingRules rules;
  AACO_TRY((read_coefficients<kServingTerms, ServingTerm>(root, "coefficients", rules.coefficients)));
  AACO_TRY((read_coefficients<kServingTerms, ServingTerm>(root, "specified", rules.specified)));
  AACO_ASSIGN(rules.first_token_steps, positive(root, "first_token_steps"));
  AACO_TRY(read_bounds(root, "bounds", rules.low, rules.high));
  AACO_TRY(read_bounds(root, "first_token_bounds", rules.first_token_low, rules.first_token_high));
  AACO_ASSIGN(const core::YamlNode* devices, root.require("devices"));
  AACO_ASSIGN(rules.devices, devices->as_strings());
  AACO_ASSIGN(const core::YamlNode* types, root.require("types"));
  AACO_ASSIGN(rules.types, types->as_strings());
  AACO_ASSIGN(rules.other_device_widening, positive(root, "other_device_widening"));
  AACO_ASSIGN(rules.rows, root.require_i64("rows"));
  AACO_ASSIGN(rules.models, root.require_i64("models"));
  AACO_ASSIGN(rules.mean_error, root.require_f64("mean_error"));
  AACO_ASSIGN(rules.memory_ratio, positive(root, "memory_ratio"));
  if (rules.memory_ratio > 1) return root.error("invalid memory_ratio: expected 0 to 1");
  AACO_ASSIGN(rules.runtime_bytes, positive(root, "runtime_bytes"));
  AACO_ASSIGN(rules.node_gpus, root.require_i64("node_gpus"));
  AACO_ASSIGN(rules.network_bytes_per_s, positive(root, "network_bytes_per_s"));
  AACO_ASSIGN(const core::YamlNode* achieved, root.require("achieved"));
  for (const core::YamlNode& item : achieved->items()) {
    AACO_ASSIGN(AchievedRate rate, read_achieved(item));
    rules.achieved.push_back(std::move(rate));
  }
  AACO_ASSIGN(const core::YamlNode* experts, root.require("experts"));
  for (const core::YamlNode& item : experts->items()) {
    AACO_ASSIGN(AchievedRate rate, read_achieved(item));
    rules.experts.push_back(std::move(rate));
  }
  AACO_ASSIGN(const core::YamlNode* stacks, root.require("stacks"));
  for (const core::YamlNode& item : stacks->items()) {
    AACO_ASSIGN(ServingStack stack, read_stack(item));
    rules.stacks.push_back(std::move(stack));
  }
  AACO_ASSIGN(const core::YamlNode* versions, root.require("versions"));
  for (const core::YamlNode& item : versions->items()) {
    AACO_ASSIGN(StackVersion version, read_version(item));
    rules.versions.push_back(std::move(version));
  }
  if (rules.stacks.empty() || rules.node_gpus < 1) return root.error("stacks and node_gpus require at least 1");
  return rules;
}

}  // namespace aaco::estimation
