#include <fmt/format.h>

#include <cmath>

#include "core/clock.h"
#include "core/json.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "core/time_text.h"
#include "core/yaml.h"
#include "governance/baseline.h"

namespace aaco::governance {
namespace {

using core::YamlNode;

// A JSON string is a YAML string.
std::string quoted(std::string_view text) { return core::Json(text).dump(-1); }

std::string list_of(const std::vector<double>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i % 16 == 0 ? ",\n      " : ", ", values[i]);
  return text + "]";
}

std::string metric_line(const trace::MetricValue& metric) {
  std::string text = fmt::format("      - {{id: {}, unit: {}, value: {}", quoted(metric.id), quoted(metric.unit), metric.value);
  if (metric.ci95) text += fmt::format(", ci95: [{}, {}]", metric.ci95->low, metric.ci95->high);
  if (metric.device) text += fmt::format(", device: {}", *metric.device);
  return text + "}\n";
}

std::string session_text(const BaselineSession& session) {
  std::string text = fmt::format(
      "  - id: {}\n    kind: {}\n    tag: {}\n    scope: {}\n    fingerprint: {}\n    measured_count: {}\n", quoted(session.id),
      quoted(session.kind), quoted(session.tag), quoted(session.scope), quoted(session.fingerprint_hash), session.measured_count);
  if (session.items_per_iteration) text += fmt::format("    items_per_iteration: {}\n", *session.items_per_iteration);
  text += session.metrics.empty() ? "    metrics: []\n" : "    metrics:\n";
  for (const auto& metric : session.metrics)
    if (std::isfinite(metric.value)) text += metric_line(metric);
  text += "    iterations_ns: " + list_of(session.iterations_ns) + "\n";
  if (session.series.empty()) return text;
  text += "    series:\n";
  for (const auto& [id, values] : session.series) text += fmt::format("      {}: {}\n", quoted(id), list_of(values));
  return text;
}

constexpr std::string_view kHead =
    "# An AACO baseline: the approved state that 'aaco gate' and 'aaco diff --baseline' compare against. Review changes like\n# "
    "code changes and approve them with 'aaco baseline approve'. 'aaco baseline show' prints it in readable form.\n";

std::string time_text(std::int64_t realtime_ns) { return quoted(core::iso8601_utc(realtime_ns)); }

// --- reading ---

core::Result<std::int64_t> read_time(const YamlNode& node) {
  AACO_ASSIGN(const std::string text, node.as_string());
  if (const auto time = core::parse_time_text(text)) return *time;
  return node.error("'" + text + "' is not a valid time", "use the format 2026-11-21T08:15:30Z");
}

core::Result<std::vector<double>> read_positive(const YamlNode& node) {
  AACO_ASSIGN(std::vector<double> values, node.as_f64s());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(values[i] > 0)) return node.error("value " + std::to_string(i + 1) + " in the list must be above 0 to compute ratios");
  return values;
}

core::Result<trace::MetricValue> read_metric(const YamlNode& node) {
  AACO_TRY(node.only_keys({"id", "unit", "value", "ci95", "device"}));
  trace::MetricValue metric;
  AACO_ASSIGN(metric.id, node.require_string("id"));
  AACO_ASSIGN(metric.unit, node.require_string("unit"));
  AACO_ASSIGN(metric.value, node.require_f64("value"));
  AACO_ASSIGN(metric.device, node.optional_i64("device"));
  if (const YamlNode* interval = node.find("ci95")) {
    AACO_ASSIGN(const auto ends, interval->as_f64s());
    if (ends.size() != 2 || ends[0] > ends[1]) return interval->error("an interval must be two numbers, the lower one first");
    metric.ci95 = trace::Interval{ends[0], ends[1]};
  }
  return metric;
}

core::Result<BaselineSession> read_session(const YamlNode& node) {
  AACO_TRY(node.only_keys({"id", "kind", "tag", "scope", "fingerprint", "measured_count", "items_per_iteration", "metrics",
                           "iterations_ns", "series"}));
  BaselineSession session;
  AACO_ASSIGN(session.id, node.require_string("id"));
  AACO_ASSIGN(session.kind, node.require_string("kind"));
  AACO_ASSIGN(const auto tag, node.optional_string("tag"));
  session.tag = tag.value_or("");
  AACO_ASSIGN(const auto scope, node.optional_string("scope"));
  session.scope = scope.value_or("iteration");
  AACO_ASSIGN(const auto fingerprint, node.optional_string("fingerprint"));
  session.fingerprint_hash = fingerprint.value_or("");
  AACO_ASSIGN(const auto count, node.optional_i64("measured_count"));
  session.measured_count = count.value_or(0);
  AACO_ASSIGN(session.items_per_iteration, node.optional_f64("items_per_iteration"));
  if (const YamlNode* metrics = node.find("metrics"))
    for (const YamlNode& item : metrics->items()) {
      AACO_ASSIGN(trace::MetricValue metric, read_metric(item));
      session.metrics.push_back(std::move(metric));
    }
  if (const YamlNode* iterations = node.find("iterations_ns")) {
    AACO_ASSIGN(session.iterations_ns, read_positive(*iterations));
  }
  if (const YamlNode* series = node.find("series"))
    for (const auto& [id, values] : series->entries()) {
      AACO_ASSIGN(session.series[id.scalar()], read_positive(values));
    }
  return session;
}

core::Result<Budget> read_budget(const YamlNode& node) {
  AACO_TRY(node.only_keys({"loss", "better"}));
  Budget budget;
  AACO_ASSIGN(const YamlNode* loss, node.require("loss"));
  AACO_ASSIGN(const std::string text, loss->as_string());
  const auto ratio = core::parse_ratio(text);
  if (!ratio || !(*ratio > 0 && *ratio < 1))
    return loss->error("'" + text + "' is not a valid budget", "use a percentage such as 5%");
  budget.loss_ratio = *ratio;
  AACO_ASSIGN(const std::string better, node.require_string("better"));
  if (better != "lower" && better != "higher")
    return node.find("better")->error("better must be 'lower' or 'higher', not '" + better + "'");
  budget.lower_is_better = better == "lower";
  return budget;
}

core::Status read_policy(const YamlNode& root, Baseline& baseline) {
  AACO_ASSIGN(baseline.decides, root.require_string("decides"));
  AACO_ASSIGN(const YamlNode* budgets, root.require("budgets"));
  for (const auto& [id, budget] : budgets->entries()) {
    AACO_ASSIGN(baseline.budgets[id.scalar()], read_budget(budget));
  }
  if (!baseline.budgets.contains(baseline.decides))
    return root.find("decides")->error("the deciding metric " + baseline.decides + " has no budget");
  if (const YamlNode* approval = root.find("approval")) {
    AACO_TRY(approval->only_keys({"by", "at", "content"}));
    Approval read;
    AACO_ASSIGN(read.by, approval->require_string("by"));
    AACO_ASSIGN(const YamlNode* at, approval->require("at"));
    AACO_ASSIGN(read.at_realtime_ns, read_time(*at));
    AACO_ASSIGN(read.content, approval->require_string("content"));
    baseline.approval = std::move(read);
  }
  return {};
}

core::Status read_head(const YamlNode& root, Baseline& baseline) {
  AACO_ASSIGN(baseline.name, root.require_string("name"));
  AACO_TRY(check_baseline_name(baseline.name));
  AACO_ASSIGN(baseline.owner, root.require_string("owner"));
  AACO_ASSIGN(const auto reason, root.optional_string("reason"));
  baseline.reason = reason.value_or("");
  AACO_ASSIGN(const YamlNode* created, root.require("created"));
  AACO_ASSIGN(baseline.created_realtime_ns, read_time(*created));
  if (const YamlNode* expires = root.find("expires")) {
    AACO_ASSIGN(baseline.expires_realtime_ns, read_time(*expires));
  }
  if (const YamlNode* provenance = root.find("provenance")) {
    AACO_TRY(provenance->only_keys({"tool_version", "request"}));
    AACO_ASSIGN(const auto version, provenance->optional_string("tool_version"));
    baseline.tool_version = version.value_or("");
    AACO_ASSIGN(const auto request, provenance->optional_string("request"));
    baseline.request = request.value_or("");
  }
  return {};
}

}  // namespace

std::string to_yaml(const Baseline& baseline) {
  std::string text(kHead);
  text += fmt::format("schema_version: {}\nname: {}\nowner: {}\n", kBaselineSchemaVersion, quoted(baseline.name),
                      quoted(baseline.owner));
  if (!baseline.reason.empty()) text += "reason: " + quoted(baseline.reason) + "\n";
  text += "created: " + time_text(baseline.created_realtime_ns) + "\n";
  if (baseline.expires_realtime_ns) text += "expires: " + time_text(*baseline.expires_realtime_ns) + "\n";
  if (baseline.approval)
    text += fmt::format("approval: {{by: {}, at: {}, content: {}}}\n", quoted(baseline.approval->by),
                        time_text(baseline.approval->at_realtime_ns), quoted(baseline.approval->content));
  text += "decides: " + quoted(baseline.decides) + "\nbudgets:\n";
  for (const auto& [id, budget] : baseline.budgets)
    text += fmt::format("  {}: {{loss: {}, better: {}}}\n", quoted(id), budget.loss_ratio,
                        budget.lower_is_better ? "lower" : "higher");
  text +=
      fmt::format("provenance:\n  tool_version: {}\n  request: {}\n", quoted(baseline.tool_version), quoted(baseline.request));
  text += baseline.fingerprint.empty() ? "fingerprint: {}\n" : "fingerprint:\n";
  for (const auto& [key, value] : baseline.fingerprint) text += fmt::format("  {}: {}\n", quoted(key), quoted(value));
  text += "sessions:\n";
  for (const auto& session : baseline.sessions) text += session_text(session);
  return text;
}

core::Result<Baseline> parse_baseline(std::string_view text, const std::string& file) {
  AACO_ASSIGN(const YamlNode root, YamlNode::parse(text, file));
  if (!root.is_mapping()) return root.error("not a baseline file", "create one with 'aaco baseline add'");
  AACO_ASSIGN(const std::int64_t version, root.require_i64("schema_version"));
  if (version != kBaselineSchemaVersion)
    return root.find("schema_version")
        ->error("the baseline has schema version " + std::to_string(version) + "; this version of aaco reads " +
                    std::to_string(kBaselineSchemaVersion),
                "use the aaco version that wrote it, or recreate it with 'aaco baseline add'");
  AACO_TRY(root.only_keys({"schema_version", "name", "owner", "reason", "created", "expires", "approval", "decides", "budgets",
                           "provenance", "fingerprint", "sessions"}));
  Baseline baseline;
  AACO_TRY(read_head(root, baseline));
  AACO_TRY(read_policy(root, baseline));
  if (const YamlNode* facts = root.find("fingerprint"))
    for (const auto& [key, value] : facts->entries()) {
      AACO_ASSIGN(baseline.fingerprint[key.scalar()], value.as_string());
    }
  AACO_ASSIGN(const YamlNode* sessions, root.require("sessions"));
  for (const YamlNode& item : sessions->items()) {
    AACO_ASSIGN(BaselineSession session, read_session(item));
    baseline.sessions.push_back(std::move(session));
  }
  if (baseline.sessions.empty())
    return sessions->error("a baseline needs at least one session", "add one with 'aaco baseline add NAME SESSION'");
  return baseline;
}

}  // namespace aaco::governance
