#include "analytics/confidence.h"

namespace aaco::analytics::confidence {

using core::Result;
using core::YamlNode;

namespace {

constexpr std::int64_t kSchemaVersion = 1;

}  // namespace

double probability(const EvidenceClass& one) {
  constexpr double kPrior = 0.5;  // Jeffreys, Beta(1/2, 1/2)
  return (static_cast<double>(one.right) + kPrior) / (static_cast<double>(one.cases) + 2 * kPrior);
}

Result<Table> Table::load(const std::string& path) {
  AACO_ASSIGN(const YamlNode document, YamlNode::load(path));
  return parse(document);
}

Result<Table> Table::parse(const YamlNode& document) {
  AACO_TRY(document.only_keys({"schema", "source", "classes"}));
  AACO_ASSIGN(const std::int64_t schema, document.require_i64("schema"));
  if (schema != kSchemaVersion)
    return document.error("schema " + std::to_string(schema) + " is not supported; this version reads schema 1");
  AACO_TRY(document.require_string("source"));
  AACO_ASSIGN(const YamlNode* const classes, document.require("classes"));
  Table table;
  for (const YamlNode& node : classes->items()) {
    AACO_TRY(node.only_keys({"id", "right", "cases"}));
    AACO_ASSIGN(const std::string id, node.require_string("id"));
    EvidenceClass one;
    AACO_ASSIGN(one.right, node.require_i64("right"));
    AACO_ASSIGN(one.cases, node.require_i64("cases"));
    if (one.right < 0 || one.cases < one.right) return node.error("right must be between 0 and cases");
    if (!table.classes_.emplace(id, one).second) return node.error("the class " + id + " is a duplicate");
  }
  return table;
}

std::optional<double> Table::of(std::string_view id) const {
  const auto found = classes_.find(id);
  return found == classes_.end() ? std::nullopt : std::optional(probability(found->second));
}

}  // namespace aaco::analytics::confidence
