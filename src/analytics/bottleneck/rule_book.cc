#include <algorithm>
#include <cmath>

#include "analytics/bottleneck.h"

namespace aaco::analytics::bottleneck {
namespace {

using core::Result;
using core::YamlNode;

constexpr std::int64_t kSchemaVersion = 1;

bool is_signal(std::string_view id) {
  const auto known = signals::definitions();
  return std::any_of(known.begin(), known.end(), [&](const auto& one) { return one.id == id; });
}

Result<Need> parse_need(const YamlNode& node) {
  AACO_TRY(node.only_keys({"signal", "above", "otherwise"}));
  Need need;
  AACO_ASSIGN(need.signal, node.require_string("signal"));
  AACO_ASSIGN(need.above, node.require_f64("above"));
  AACO_ASSIGN(const auto otherwise, node.optional_string("otherwise"));
  need.otherwise = otherwise.value_or("");
  if (!is_signal(need.signal)) return node.error("unknown signal '" + need.signal + "'");
  return need;
}

// One, or a list.
Result<std::vector<Need>> parse_needs(const YamlNode& node) {
  std::vector<Need> needs;
  if (!node.is_sequence()) {
    AACO_ASSIGN(Need one, parse_need(node));
    needs.push_back(std::move(one));
    return needs;
  }
  for (const YamlNode& item : node.items()) {
    AACO_ASSIGN(Need one, parse_need(item));
    needs.push_back(std::move(one));
  }
  return needs;
}

Result<BottleneckClass> parse_class(const YamlNode& node) {
  AACO_TRY(node.only_keys({"id", "title", "meaning", "gpu_meaning", "prior", "needs", "strategies"}));
  BottleneckClass one;
  AACO_ASSIGN(one.id, node.require_string("id"));
  AACO_ASSIGN(one.title, node.require_string("title"));
  AACO_ASSIGN(one.meaning, node.require_string("meaning"));
  AACO_ASSIGN(const auto gpu_meaning, node.optional_string("gpu_meaning"));
  one.gpu_meaning = gpu_meaning.value_or("");
  AACO_ASSIGN(const auto prior, node.optional_f64("prior"));
  one.prior = prior.value_or(0);
  if (const YamlNode* const needs = node.find("needs")) {
    AACO_ASSIGN(one.needs, parse_needs(*needs));
  }
  AACO_ASSIGN(const YamlNode* const strategies, node.require("strategies"));
  AACO_ASSIGN(one.strategies, strategies->as_strings());
  if (one.strategies.empty()) return node.error("the class " + one.id + " has no strategy");
  return one;
}

Result<Rule> parse_rule(const YamlNode& node) {
  AACO_TRY(node.only_keys({"class", "signal", "from", "to", "weight", "scale"}));
  Rule rule;
  AACO_ASSIGN(rule.class_id, node.require_string("class"));
  AACO_ASSIGN(rule.signal, node.require_string("signal"));
  AACO_ASSIGN(rule.from, node.require_f64("from"));
  AACO_ASSIGN(rule.to, node.require_f64("to"));
  AACO_ASSIGN(rule.weight, node.require_f64("weight"));
  AACO_ASSIGN(const auto scale, node.optional_string("scale"));
  if (scale && *scale != "log") return node.error("scale '" + *scale + "' is not supported; use log");
  rule.logarithmic = scale.has_value();
  if (rule.from == rule.to) return node.error("from and to must differ");
  if (rule.logarithmic && (rule.from <= 0 || rule.to <= 0)) return node.error("a logarithmic scale requires from > 0 and to > 0");
  if (!is_signal(rule.signal)) return node.error("unknown signal '" + rule.signal + "'");
  return rule;
}

}  // namespace

Result<RuleBook> RuleBook::load(const std::string& path) {
  AACO_ASSIGN(const YamlNode document, YamlNode::load(path));
  return parse(document);
}

Result<RuleBook> RuleBook::parse(const YamlNode& document) {
  AACO_TRY(document.only_keys({"schema", "classes", "rules"}));
  AACO_ASSIGN(const std::int64_t schema, document.require_i64("schema"));
  if (schema != kSchemaVersion)
    return document.error("schema " + std::to_string(schema) + " is not supported; this version reads schema 1");
  RuleBook book;
  AACO_ASSIGN(const YamlNode* const classes, document.require("classes"));
  for (const YamlNode& node : classes->items()) {
    AACO_ASSIGN(BottleneckClass one, parse_class(node));
    if (book.find(one.id) != nullptr) return node.error("duplicate class " + one.id);
    book.classes_.push_back(std::move(one));
  }
  if (book.classes_.empty()) return document.error("no classes defined");
  for (const BottleneckClass& one : book.classes_)
    for (const Need& need : one.needs)
      if (!need.otherwise.empty() && book.find(need.otherwise) == nullptr)
        return classes->error("unknown class '" + need.otherwise + "'");
  AACO_ASSIGN(const YamlNode* const rules, document.require("rules"));
  for (const YamlNode& node : rules->items()) {
    AACO_ASSIGN(Rule rule, parse_rule(node));
    const BottleneckClass* const kind = book.find(rule.class_id);
    if (kind == nullptr) return node.error("unknown class '" + rule.class_id + "'");
    rule.class_id = kind->id;
    book.rules_.push_back(std::move(rule));
  }
  return book;
}

const BottleneckClass* RuleBook::find(std::string_view id) const {
  const auto alike = [](char a, char b) { return a == b || (a == '_' && b == '-') || (a == '-' && b == '_'); };
  const auto found = std::find_if(classes_.begin(), classes_.end(), [&](const auto& one) {
    return std::equal(one.id.begin(), one.id.end(), id.begin(), id.end(), alike);
  });
  return found == classes_.end() ? nullptr : &*found;
}

}  // namespace aaco::analytics::bottleneck
