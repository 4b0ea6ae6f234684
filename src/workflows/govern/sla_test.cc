#include "workflows/sla.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/made_session.h"

namespace aaco::workflows {
namespace {

using core::Json;
using governance::RuleState;
using testing::HasSubstr;

class SlaTest : public testing::Test {
 protected:
  // A session whose 99th percentile is between the two.
  std::string session(double low, double high, const char* model = "net") {
    MadeSession made;
    made.tag = "t";
    made.outcome = Json::object({{"model", model}, {"backend", "cpu"}});
    made.metrics = {{"latency.p99_ns", (low + high) / 2, "ns", trace::Interval{low, high}, {}}};
    return lake_.make(made).manifest.id.text;
  }
  void rules(const std::string& body) { request_.rules = lake_.file("sla.yaml", "schema_version: 1\nrules:\n" + body); }
  std::string alert_to(const std::string& how) {
    std::string target = lake_.in("alerts/out.jsonl");
    rules("  - {name: tail, metric: p99, max: 10ms, severity: critical}\nalerts:\n  - {file: " + target + how + "}\n");
    return target;
  }
  SlaOutcome checked(std::vector<std::string> sessions) {
    request_.sessions = std::move(sessions);
    auto outcome = check_sla(request_, lake_.services);
    EXPECT_TRUE(outcome) << outcome.error().text();
    return outcome ? *std::move(outcome) : SlaOutcome();
  }
  RuleState state(double low, double high) { return checked({session(low, high)}).findings.at(0).outcome.state; }
  std::string refusal(std::vector<std::string> sessions) {
    request_.sessions = std::move(sessions);
    const auto outcome = check_sla(request_, lake_.services);
    return outcome ? "accepted" : outcome.error().text();
  }
  Lake lake_;
  SlaRequest request_;
};

TEST_F(SlaTest, ARuleIsDecidedOnlyWhereTheWholeIntervalIsOnOneSide) {
  rules("  - {metric: p99, max: 10ms}\n");
  EXPECT_EQ(state(8e6, 9e6), RuleState::kept);
  EXPECT_EQ(state(11e6, 12e6), RuleState::broken);
  EXPECT_EQ(state(9e6, 11e6), RuleState::undecided);
  rules("  - {metric: p99, min: 10ms}\n");
  EXPECT_EQ(state(8e6, 9e6), RuleState::broken);
  EXPECT_EQ(state(11e6, 12e6), RuleState::kept);
}
TEST_F(SlaTest, OneBrokenRuleOfOneSessionBreaksTheWhole) {
  rules("  - {name: tail, metric: p99, max: 10ms}\n  - {name: wide, metric: p99, max: 20ms}\n");
  const auto kept = checked({session(8e6, 9e6)});
  EXPECT_FALSE(kept.any(RuleState::broken));
  EXPECT_EQ(to_json(kept)["broken"].as_bool(), false);
  const auto broken = checked({session(8e6, 9e6), session(11e6, 12e6)});
  EXPECT_EQ(broken.findings.size(), 4U);
  EXPECT_TRUE(broken.any(RuleState::broken));
  EXPECT_EQ(to_json(broken)["broken"].as_bool(), true);
}
TEST_F(SlaTest, AnUndecidedRuleIsNotBroken) {
  rules("  - {metric: p99, max: 10ms}\n");
  const auto outcome = checked({session(9e6, 11e6)});
  EXPECT_TRUE(outcome.any(RuleState::undecided));
  EXPECT_EQ(to_json(outcome)["broken"].as_bool(), false);
}
TEST_F(SlaTest, RulesForOtherSessionsAreNotMeant) {
  rules("  - {metric: p99, max: 10ms, where: {model: net, backend: cpu, kind: run, tag: t}}\n");
  EXPECT_EQ(checked({session(11e6, 12e6)}).findings.at(0).outcome.state, RuleState::broken);
  EXPECT_EQ(checked({session(11e6, 12e6, "other")}).findings.at(0).outcome.state, RuleState::not_meant);
}
TEST_F(SlaTest, AMissingMetricIsNotKept) {
  rules("  - {metric: gpu.busy_ns, max: 10ms}\n");
  const auto outcome = checked({session(8e6, 9e6)});
  EXPECT_TRUE(outcome.any(RuleState::not_measured));
  EXPECT_FALSE(outcome.any(RuleState::kept));
}

TEST_F(SlaTest, OnlyBrokenRulesAreAlerted) {
  const std::string target = alert_to("");
  EXPECT_TRUE(checked({session(8e6, 9e6)}).alerts.empty());
  EXPECT_TRUE(checked({session(9e6, 11e6)}).alerts.empty()) << "undecided";
  EXPECT_FALSE(core::exists(target));
  const std::string id = session(11e6, 12e6);
  const auto outcome = checked({id, session(8e6, 9e6)});
  ASSERT_EQ(outcome.alerts.size(), 1U);
  EXPECT_TRUE(outcome.alerts[0].delivered) << outcome.alerts[0].problem;
  const auto sent = Json::parse(core::read_file(target, 1 << 20).value());
  ASSERT_TRUE(sent);
  ASSERT_EQ((*sent)["findings"].items().size(), 1U);
  EXPECT_EQ((*sent)["findings"].items()[0]["session"].text(), id);
  EXPECT_EQ((*sent)["findings"].items()[0]["severity"].text(), "critical");
}
TEST_F(SlaTest, UndecidedRulesAreAlertedOnRequest) {
  alert_to(", undecided: true");
  const auto outcome = checked({session(9e6, 11e6)});
  ASSERT_EQ(outcome.alerts.size(), 1U);
  EXPECT_TRUE(outcome.alerts[0].delivered);
  EXPECT_TRUE(checked({session(8e6, 9e6)}).alerts.empty());
}
TEST_F(SlaTest, AlertsAreNotSentWhereTheyAreTurnedOff) {
  const std::string target = alert_to("");
  request_.alert = false;
  EXPECT_TRUE(checked({session(11e6, 12e6)}).alerts.empty());
  EXPECT_FALSE(core::exists(target));
}
TEST_F(SlaTest, ACommandReceivesTheAlertOnItsInput) {
  const std::string copy = lake_.in("copy.json");
  rules("  - {metric: p99, max: 10ms}\nalerts:\n  - {command: [tee, " + copy + "]}\n");
  EXPECT_TRUE(checked({session(11e6, 12e6)}).alerts.at(0).delivered);
  EXPECT_EQ((*Json::parse(core::read_file(copy, 1 << 20).value()))["rules"].text(), request_.rules);
}
TEST_F(SlaTest, AnAlertThatFailsIsReportedAndChangesNoFinding) {
  rules("  - {metric: p99, max: 10ms}\nalerts:\n  - {command: [\"false\"]}\n  - {file: /proc/nosuch/alerts.jsonl}\n");
  const auto outcome = checked({session(11e6, 12e6)});
  EXPECT_TRUE(outcome.any(RuleState::broken));
  ASSERT_EQ(outcome.alerts.size(), 2U);
  EXPECT_FALSE(outcome.alerts[0].delivered);
  EXPECT_THAT(outcome.alerts[0].problem, HasSubstr("exit code 1"));
  EXPECT_FALSE(outcome.alerts[1].delivered);
}

TEST_F(SlaTest, RefusesMissingAndInvalidRules) {
  const std::string id = session(8e6, 9e6);
  request_.rules = lake_.in("missing.yaml");
  EXPECT_NE(refusal({id}), "accepted");
  rules("  - {metric: p99}\n");
  EXPECT_THAT(refusal({id}), HasSubstr("has no limit"));
}
TEST_F(SlaTest, RefusesUnknownAndIncompleteSessions) {
  rules("  - {metric: p99, max: 10ms}\n");
  EXPECT_NE(refusal({"20200101-000000-aaaaaa"}), "accepted");
  auto draft = SessionDraft::begin("run", "", {}, lake_.services).value();
  EXPECT_THAT(refusal({draft.writer().path()}), HasSubstr("is incomplete"));
}

}  // namespace
}  // namespace aaco::workflows
