#include <algorithm>
#include <cmath>

#include "analytics/noise.h"
#include "core/yaml.h"

namespace aaco::analytics::noise {
namespace {

core::Result<SensorRule> read_rule(const core::YamlNode& node) {
  AACO_TRY(node.only_keys({"id", "title", "sensor", "low", "floor", "least_ratio", "deviations", "always"}));
  SensorRule rule;
  AACO_ASSIGN(rule.id, node.require_string("id"));
  AACO_ASSIGN(rule.title, node.require_string("title"));
  AACO_ASSIGN(rule.sensor, node.require_string("sensor"));
  AACO_ASSIGN(const auto low, node.optional_bool("low"));
  AACO_ASSIGN(const auto floor, node.optional_f64("floor"));
  AACO_ASSIGN(const auto least, node.optional_f64("least_ratio"));
  AACO_ASSIGN(rule.deviations, node.optional_f64("deviations"));
  AACO_ASSIGN(rule.always, node.optional_f64("always"));
  rule.low = low.value_or(false);
  rule.floor = floor.value_or(0);
  rule.least_ratio = least.value_or(0);
  if (rule.id.empty() || rule.title.empty()) return node.error("a sensor needs an id and a title");
  if (!is_sensor(rule.sensor)) return node.error("unknown sensor '" + rule.sensor + "'");
  if (!rule.deviations && !rule.always) return node.error("'" + rule.id + "' can never trigger: set deviations or always");
  for (const double value : {rule.floor, rule.least_ratio, rule.deviations.value_or(1), rule.always.value_or(1)})
    if (value < 0) return node.error("'" + rule.id + "' has a negative limit");
  if (rule.low && rule.always) return node.error("'" + rule.id + "': always cannot be combined with low");
  return rule;
}

}  // namespace

core::Result<NoiseBook> NoiseBook::load(const std::string& path) {
  AACO_ASSIGN(const auto document, core::YamlNode::load(path));
  AACO_TRY(document.only_keys({"schema", "sensors"}));
  AACO_ASSIGN(const auto schema, document.require_i64("schema"));
  if (schema != 1) return document.error("schema " + std::to_string(schema) + " is not supported", "this version reads schema 1");
  AACO_ASSIGN(const core::YamlNode* const sensors, document.require("sensors"));
  if (!sensors->is_sequence() || sensors->items().empty()) return sensors->error("'sensors' must be a non-empty list");
  NoiseBook book;
  for (const core::YamlNode& node : sensors->items()) {
    AACO_ASSIGN(SensorRule rule, read_rule(node));
    for (const SensorRule& known : book.rules_)
      if (known.id == rule.id) return node.error("duplicate sensor '" + rule.id + "'");
    book.rules_.push_back(std::move(rule));
  }
  return book;
}

std::string NoiseBook::title(std::string_view id) const {
  const auto found = std::find_if(rules_.begin(), rules_.end(), [&](const SensorRule& rule) { return rule.id == id; });
  return found == rules_.end() ? std::string(id) : found->title;
}

}  // namespace aaco::analytics::noise
