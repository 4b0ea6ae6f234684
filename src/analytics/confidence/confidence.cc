#include "analytics/confidence.h"

namespace aaco::analytics::confidence {

using core::Result;
using core::YamlNode;

namespace {

constexpr std::int64_t kSchemaVersion = 1;

// "gap.host_late.frame" and "gap.unknown.frame".
bool same_kind(std::string_view a, std::string_view b) {
  const auto a_subject = a.find('.'), b_subject = b.find('.');
  const auto a_kind = a.rfind('.'), b_kind = b.rfind('.');
  if (a_subject == a_kind || b_subject == b_kind) return false;  // not of three words
  return a.substr(0, a_subject) == b.substr(0, b_subject) && a.substr(a_kind) == b.substr(b_kind);
}

}  // namespace

double probability(const EvidenceClass& one, double prior) {
  return (static_cast<double>(one.right) + prior) / (static_cast<double>(one.cases) + 1);
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
  EvidenceClass others;
  bool has_others = false;
  for (const auto& [other, counts] : classes_) {
    if (other == id || !same_kind(other, id)) continue;
    others.right += counts.right;
    others.cases += counts.cases;
    has_others = true;
  }
  const auto found = classes_.find(id);
  if (found == classes_.end() && !has_others) return std::nullopt;
  return probability(found == classes_.end() ? EvidenceClass() : found->second, probability(others));
}

}  // namespace aaco::analytics::confidence
