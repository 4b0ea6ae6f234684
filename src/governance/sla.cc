#include "governance/sla.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>

#include "core/numbers.h"
#include "core/strings.h"
#include "core/yaml.h"
#include "governance/amount.h"

namespace aaco::governance {
namespace {

using core::YamlNode;

constexpr std::int64_t kMaxTimeoutNs = 300'000'000'000;

// A limit in the unit that the metric's id ends in.
core::Result<double> read_limit(const YamlNode& node, const std::string& metric) {
  AACO_ASSIGN(const std::string text, node.as_string());
  std::optional<double> value = core::parse_f64(text);
  if (!value && metric.ends_with("_ns")) {
    if (const auto ns = core::parse_duration_ns(text)) value = static_cast<double>(*ns);
  } else if (!value && metric.ends_with("_bytes")) {
    if (const auto bytes = core::parse_bytes(text)) value = static_cast<double>(*bytes);
  } else if (!value && metric.ends_with("_ratio")) {
    value = core::parse_ratio(text);
  }
  const bool tells_unit = metric.ends_with("_ns") || metric.ends_with("_bytes") || metric.ends_with("_ratio");
  if (!value && !tells_unit)
    return node.error("'" + text + "' is not a plain number, and the unit of " + metric + " is unknown",
                      "use a number without a unit; 'aaco show SESSION' lists the available metrics");
  if (!value || !std::isfinite(*value))
    return node.error("'" + text + "' is not a valid limit for " + metric,
                      "use a number in the metric's unit, or a value such as 20ms, 4GiB, 5%");
  return *value;
}

core::Result<SlaRule> read_rule(const YamlNode& node, const std::function<std::string(const std::string&)>& metric_id) {
  if (!node.is_mapping()) return node.error("a rule must be a mapping with a name, a metric and a limit");
  AACO_TRY(node.only_keys({"name", "metric", "max", "min", "severity", "where"}));
  SlaRule rule;
  AACO_ASSIGN(const std::string metric, node.require_string("metric"));
  rule.metric = metric_id(metric);
  AACO_ASSIGN(const auto name, node.optional_string("name"));
  rule.name = name.value_or(rule.metric);
  if (const YamlNode* max = node.find("max")) {
    AACO_ASSIGN(rule.max, read_limit(*max, rule.metric));
  }
  if (const YamlNode* min = node.find("min")) {
    AACO_ASSIGN(rule.min, read_limit(*min, rule.metric));
  }
  if (!rule.max && !rule.min) return node.error("the rule '" + rule.name + "' has no limit", "set max, min or both");
  if (rule.max && rule.min && *rule.min > *rule.max)
    return node.error("the rule '" + rule.name + "' has a minimum above its maximum");
  AACO_ASSIGN(const auto severity, node.optional_string("severity"));
  rule.severity = severity.value_or("major");
  if (rule.severity != "minor" && rule.severity != "major" && rule.severity != "critical")
    return node.find("severity")->error("severity must be minor, major or critical, not '" + rule.severity + "'");
  if (const YamlNode* where = node.find("where")) {
    AACO_TRY(where->only_keys({"model", "backend", "kind", "tag"}));
    for (const auto& [key, value] : where->entries()) {
      AACO_ASSIGN(rule.where[key.scalar()], value.as_string());
    }
  }
  return rule;
}

core::Result<SlaAlert> read_alert(const YamlNode& node) {
  if (!node.is_mapping()) return node.error("an alert must be a mapping with a file, a command or a webhook");
  AACO_TRY(node.only_keys({"file", "command", "webhook", "timeout", "undecided"}));
  SlaAlert alert;
  const int receivers = (node.find("file") ? 1 : 0) + (node.find("command") ? 1 : 0) + (node.find("webhook") ? 1 : 0);
  if (receivers != 1) return node.error("an alert needs exactly one of file, command and webhook");
  if (const YamlNode* file = node.find("file")) {
    AACO_ASSIGN(alert.target, file->as_string());
  } else if (const YamlNode* webhook = node.find("webhook")) {
    alert.kind = SlaAlert::Kind::webhook;
    AACO_ASSIGN(alert.target, webhook->as_string());
  } else {
    alert.kind = SlaAlert::Kind::command;
    AACO_ASSIGN(alert.command, node.find("command")->as_strings());
    if (alert.command.empty()) return node.error("the command is empty", "use [program, argument, ...]");
  }
  if (alert.kind != SlaAlert::Kind::command && alert.target.empty()) return node.error("the alert has an empty target");
  if (const YamlNode* timeout = node.find("timeout")) {
    AACO_ASSIGN(const std::string text, timeout->as_string());
    const auto ns = core::parse_duration_ns(text);
    if (!ns || *ns <= 0 || *ns > kMaxTimeoutNs)
      return timeout->error("'" + text + "' is not a valid timeout", "for example 5s, at most 5m");
    alert.timeout_ns = *ns;
  }
  AACO_ASSIGN(const auto undecided, node.optional_bool("undecided"));
  alert.undecided_too = undecided.value_or(false);
  return alert;
}

// A value held against one limit.
struct Against {
  RuleState state = RuleState::kept;
  double limit = 0;
  bool above = true;  // too much breaks it
};

Against against(const trace::MetricValue& metric, double limit, bool above) {
  const double low = metric.ci95 ? metric.ci95->low : metric.value;
  const double high = metric.ci95 ? metric.ci95->high : metric.value;
  if (above ? low > limit : high < limit) return {RuleState::broken, limit, above};
  if (above ? high <= limit : low >= limit) return {RuleState::kept, limit, above};
  return {RuleState::undecided, limit, above};
}

// What the session did measure, where that may have been meant.
std::string near_to(const std::string& wanted, const trace::Metrics& metrics) {
  std::vector<std::string_view> measured;
  for (const trace::MetricValue& metric : metrics)
    if (metric.id != wanted) measured.emplace_back(metric.id);
  const std::string_view near = core::nearest(wanted, measured);
  return near.empty() ? "" : "; did you mean " + std::string(near) + "?";
}

// Broken before undecided before kept.
Against worst_of(const SlaRule& rule, const trace::MetricValue& metric) {
  if (!rule.min) return against(metric, *rule.max, true);
  const Against low = against(metric, *rule.min, false);
  if (!rule.max) return low;
  const Against high = against(metric, *rule.max, true);
  if (low.state == RuleState::broken || high.state == RuleState::kept) return low.state == RuleState::kept ? high : low;
  return high;
}

}  // namespace

core::Result<SlaBook> parse_sla(std::string_view text, const std::string& file,
                                const std::function<std::string(const std::string&)>& metric_id) {
  AACO_ASSIGN(const YamlNode root, YamlNode::parse(text, file));
  if (!root.is_mapping()) return root.error("not a rules file", "docs/formats/sla.md describes the format");
  AACO_TRY(root.only_keys({"schema_version", "rules", "alerts"}));
  AACO_ASSIGN(const std::int64_t version, root.require_i64("schema_version"));
  if (version != 1)
    return root.find("schema_version")
        ->error("the rules have schema version " + std::to_string(version) + "; this version of aaco reads 1");
  AACO_ASSIGN(const YamlNode* rules, root.require("rules"));
  SlaBook book;
  std::set<std::string> names;
  for (const YamlNode& item : rules->items()) {
    AACO_ASSIGN(SlaRule rule, read_rule(item, metric_id));
    if (!names.insert(rule.name).second) return item.error("duplicate rule '" + rule.name + "'", "rename one of them");
    book.rules.push_back(std::move(rule));
  }
  if (book.rules.empty()) return rules->error("no rules defined");
  if (const YamlNode* alerts = root.find("alerts"))
    for (const YamlNode& item : alerts->items()) {
      AACO_ASSIGN(SlaAlert alert, read_alert(item));
      book.alerts.push_back(std::move(alert));
    }
  return book;
}

std::string_view to_string(RuleState state) {
  constexpr std::array<std::string_view, 5> kNames = {"kept", "broken", "undecided", "not_measured", "not_meant"};
  return kNames[static_cast<std::size_t>(state)];
}

RuleOutcome check_rule(const SlaRule& rule, const trace::Metrics& metrics, const std::map<std::string, std::string>& facts) {
  RuleOutcome outcome;
  for (const auto& [key, value] : rule.where) {
    const auto fact = facts.find(key);
    if (fact != facts.end() && fact->second == value) continue;
    outcome.state = RuleState::not_meant;
    outcome.explanation = fmt::format("the rule only applies to {} {}", key, value);
    return outcome;
  }
  const trace::MetricValue* metric = trace::find_metric(metrics, rule.metric);
  if (metric == nullptr || !std::isfinite(metric->value)) {
    outcome.explanation = "the session did not measure " + rule.metric + near_to(rule.metric, metrics);
    return outcome;
  }
  outcome.value = metric->value;
  outcome.interval = metric->ci95;
  outcome.unit = metric->unit;
  const Against worst = worst_of(rule, *metric);
  outcome.state = worst.state;
  outcome.limit = worst.limit;
  outcome.explanation = fmt::format("{} is {}", rule.metric, amount(*outcome.value, outcome.unit));
  if (outcome.interval)
    outcome.explanation +=
        fmt::format(" ({} to {})", amount(outcome.interval->low, outcome.unit), amount(outcome.interval->high, outcome.unit));
  outcome.explanation +=
      fmt::format("; required: {} {}", worst.above ? "at most" : "at least", amount(*outcome.limit, outcome.unit));
  if (outcome.state == RuleState::undecided) outcome.explanation += ": the CI includes the limit; run more iterations";
  return outcome;
}

}  // namespace aaco::governance
