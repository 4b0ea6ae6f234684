#include "governance/sla.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace aaco::governance {
namespace {

using ::testing::HasSubstr;

std::string completed(const std::string& name) { return name == "p99" ? "latency.p99_ns" : name; }

std::string error_of(std::string_view text) {
  const auto read = parse_sla(text, "sla.yaml", completed);
  return read ? "accepted" : read.error().text();
}
SlaBook parsed(std::string_view text) {
  auto read = parse_sla(text, "sla.yaml", completed);
  if (!read) throw std::runtime_error(read.error().text());
  return *std::move(read);
}
std::string rule(std::string_view body) { return "schema_version: 1\nrules:\n  - {" + std::string(body) + "}\n"; }
std::string alert(std::string_view body) { return rule("metric: p99, max: 1ms") + "alerts:\n  - {" + std::string(body) + "}\n"; }

TEST(SlaLimits, RefusesUnitOfUnitlessMetric) {
  EXPECT_THAT(error_of(rule("metric: nosuch, max: 20ms")), HasSubstr("the unit of nosuch is unknown"));
  EXPECT_THAT(error_of(rule("metric: p99, max: 20MiB")), HasSubstr("not a valid limit for"));
  EXPECT_EQ(error_of(rule("metric: nosuch, max: 20")), "accepted");
}

TEST(SlaFile, RulesWithUnits) {
  const SlaBook book = parsed(
      "schema_version: 1\nrules:\n  - {name: tail, metric: p99, max: 20ms, severity: critical, where: {model: mlp}}\n"
      "  - {metric: throughput.items_per_second, min: 50}\n  - {metric: memory.rss_peak_bytes, max: 1GiB}\n  - {metric: "
      "latency.cov_ratio, max: 5%}\n");
  ASSERT_EQ(book.rules.size(), 4U);
  EXPECT_EQ(book.rules[0], (SlaRule{"tail", "latency.p99_ns", 20e6, {}, "critical", {{"model", "mlp"}}}));
  EXPECT_EQ(book.rules[1].min, 50);
  EXPECT_EQ(book.rules[2].max, 1073741824.0);
  EXPECT_DOUBLE_EQ(*book.rules[3].max, 0.05);
}
TEST(SlaFile, ABareNumberIsInTheMetricsOwnUnit) { EXPECT_EQ(parsed(rule("metric: p99, max: 20000")).rules[0].max, 20000); }
TEST(SlaFile, Alerts) {
  const SlaBook book = parsed(
      rule("metric: p99, max: 1ms") +
      "alerts:\n  - {file: a.jsonl}\n  - {command: [mail, -s, x], undecided: true}\n  - {webhook: 'http://h/x', timeout: 2s}\n");
  ASSERT_EQ(book.alerts.size(), 3U);
  EXPECT_EQ(book.alerts[1].command.size(), 3U);
  EXPECT_TRUE(book.alerts[1].undecided_too);
  EXPECT_EQ(book.alerts[2].timeout_ns, 2'000'000'000);
}
TEST(SlaFile, RefusesNonMapping) { EXPECT_THAT(error_of(""), HasSubstr("not a rules file")); }
TEST(SlaFile, AnotherVersion) { EXPECT_THAT(error_of("schema_version: 7\nrules: []\n"), HasSubstr("version 7")); }
TEST(SlaFile, NoRules) { EXPECT_THAT(error_of("schema_version: 1\nrules: []\n"), HasSubstr("no rule")); }
TEST(SlaFile, NoLimit) { EXPECT_THAT(error_of(rule("metric: p99")), HasSubstr("has no limit")); }
TEST(SlaFile, LimitOfAnotherKind) {
  EXPECT_THAT(error_of(rule("metric: p99, max: 4GiB")), HasSubstr("not a valid limit for latency.p99_ns"));
}
TEST(SlaFile, LimitNotFinite) { EXPECT_THAT(error_of(rule("metric: p99, max: .inf")), HasSubstr("not a valid limit")); }
TEST(SlaFile, MinimumAboveMaximum) { EXPECT_THAT(error_of(rule("metric: p99, max: 1ms, min: 2ms")), HasSubstr("minimum above")); }
TEST(SlaFile, UnknownKey) { EXPECT_THAT(error_of(rule("metric: p99, maxx: 1ms")), HasSubstr("max")); }
TEST(SlaFile, NameTwice) {
  EXPECT_THAT(error_of("schema_version: 1\nrules:\n  - {metric: p99, max: 1ms}\n  - {metric: p99, max: 2ms}\n"),
              HasSubstr("duplicate"));
}
TEST(SlaFile, UnknownSeverity) { EXPECT_THAT(error_of(rule("metric: p99, max: 1ms, severity: awful")), HasSubstr("awful")); }
TEST(SlaFile, AlertWithoutTarget) { EXPECT_THAT(error_of(alert("timeout: 1s")), HasSubstr("one of file, command and webhook")); }
TEST(SlaFile, AlertWithTwoTargets) { EXPECT_THAT(error_of(alert("file: a, webhook: b")), HasSubstr("one of")); }
TEST(SlaFile, TimeoutOfAnHour) { EXPECT_THAT(error_of(alert("webhook: x, timeout: 1h")), HasSubstr("not a valid timeout")); }

RuleState state(std::optional<double> max, std::optional<double> min, double value,
                std::optional<trace::Interval> interval = {}) {
  return check_rule({"r", "latency.p99_ns", max, min, "major", {}}, {{"latency.p99_ns", value, "ns", interval, {}}}, {}).state;
}

TEST(SlaRule, ValueWithoutIntervalDecides) {
  EXPECT_EQ(state(10, {}, 9), RuleState::kept);
  EXPECT_EQ(state(10, {}, 10), RuleState::kept);
  EXPECT_EQ(state(10, {}, 11), RuleState::broken);
  EXPECT_EQ(state({}, 10, 9), RuleState::broken);
  EXPECT_EQ(state({}, 10, 10), RuleState::kept);
}
TEST(SlaRule, IntervalMustExcludeTheLimit) {
  EXPECT_EQ(state(10, {}, 9, trace::Interval{8, 11}), RuleState::undecided);
  EXPECT_EQ(state(10, {}, 12, trace::Interval{9, 13}), RuleState::undecided);
  EXPECT_EQ(state(10, {}, 12, trace::Interval{11, 13}), RuleState::broken);
  EXPECT_EQ(state(10, {}, 8, trace::Interval{7, 9}), RuleState::kept);
}
TEST(SlaRule, TheWorseOfTwoLimitsCounts) {
  EXPECT_EQ(state(10, 5, 7), RuleState::kept);
  EXPECT_EQ(state(10, 5, 4), RuleState::broken);
  EXPECT_EQ(state(10, 5, 11), RuleState::broken);
  EXPECT_EQ(state(10, 5, 6, trace::Interval{4, 7}), RuleState::undecided);
  EXPECT_EQ(state(10, 5, 8, trace::Interval{4, 11}), RuleState::undecided);
}
TEST(SlaRule, NotMeasured) {
  const SlaRule rule{"r", "energy.gpu_joules", 10, {}, "major", {}};
  EXPECT_EQ(check_rule(rule, {}, {}).state, RuleState::not_measured);
  EXPECT_EQ(check_rule(rule, {{"energy.gpu_joules", std::nan(""), "J", {}, {}}}, {}).state, RuleState::not_measured);
  EXPECT_EQ(check_rule(rule, {}, {}).explanation, "the session did not measure energy.gpu_joules");
  EXPECT_EQ(check_rule(rule, {{"energy.gpu_joule", 1, "J", {}, {}}, {"latency.p99_ns", 1, "ns", {}, {}}}, {}).explanation,
            "the session did not measure energy.gpu_joules; did you mean energy.gpu_joule?");
}
TEST(SlaRule, ForAnotherModel) {
  const SlaRule rule{"r", "latency.p99_ns", 10, {}, "major", {{"model", "mlp"}}};
  const trace::Metrics metrics{{"latency.p99_ns", 99, "ns", {}, {}}};
  EXPECT_EQ(check_rule(rule, metrics, {{"model", "vgg"}}).state, RuleState::not_meant);
  EXPECT_EQ(check_rule(rule, metrics, {}).state, RuleState::not_meant);
  EXPECT_EQ(check_rule(rule, metrics, {{"model", "mlp"}}).state, RuleState::broken);
}
TEST(SlaRule, ExplanationHasValues) {
  const auto outcome = check_rule({"r", "latency.p99_ns", 10e6, {}, "major", {}}, {{"latency.p99_ns", 21e6, "ns", {}, {}}}, {});
  EXPECT_THAT(outcome.explanation, HasSubstr("21"));
  EXPECT_THAT(outcome.explanation, HasSubstr("at most 10"));
}

}  // namespace
}  // namespace aaco::governance
