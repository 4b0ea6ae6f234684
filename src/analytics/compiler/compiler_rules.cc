#include <algorithm>

#include "analytics/compiler_diff.h"
#include "core/yaml.h"

namespace aaco::analytics::compiler {
namespace {

using core::YamlNode;

core::Result<std::set<std::string>> operators_of(const YamlNode& root, std::string_view key) {
  AACO_ASSIGN(const YamlNode* node, root.require(key));
  AACO_ASSIGN(const auto names, node->as_strings());
  return std::set<std::string>(names.begin(), names.end());
}

}  // namespace

const Reason* CompilerRules::find(std::string_view id) const {
  const auto found = std::find_if(reasons.begin(), reasons.end(), [&](const Reason& one) { return one.id == id; });
  return found == reasons.end() ? nullptr : &*found;
}

core::Result<CompilerRules> load_compiler_rules(const std::string& path) {
  AACO_ASSIGN(const YamlNode root, YamlNode::load(path));
  AACO_TRY(root.only_keys({"schema_version", "transparent", "between", "reasons"}));
  AACO_ASSIGN(const std::int64_t version, root.require_i64("schema_version"));
  if (version != 1) return root.error("unsupported schema_version " + std::to_string(version), "use a newer version of AACO");
  CompilerRules rules;
  AACO_ASSIGN(rules.slack.transparent, operators_of(root, "transparent"));
  AACO_ASSIGN(rules.slack.between, operators_of(root, "between"));
  AACO_ASSIGN(const YamlNode* reasons, root.require("reasons"));
  for (const YamlNode& node : reasons->items()) {
    AACO_TRY(node.only_keys({"id", "title", "remedy"}));
    Reason reason;
    AACO_ASSIGN(reason.id, node.require_string("id"));
    AACO_ASSIGN(reason.title, node.require_string("title"));
    AACO_ASSIGN(reason.remedy, node.require_string("remedy"));
    if (rules.find(reason.id) != nullptr) return node.error("duplicate reason '" + reason.id + "'");
    rules.reasons.push_back(std::move(reason));
  }
  if (rules.reasons.empty()) return reasons->error("'reasons' must have at least one reason");
  return rules;
}

}  // namespace aaco::analytics::compiler
