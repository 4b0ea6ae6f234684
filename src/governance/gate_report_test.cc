#include "governance/gate_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::governance {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

GateReport sample(const std::string& verdict = "regression") {
  GateReport report;
  report.name = "mlp";
  report.verdict = verdict;
  report.severity = verdict == "regression" ? "major" : "none";
  report.confidence = 0.98;
  report.recommendation = "look";
  report.baseline_sessions = {"a"};
  report.candidate_sessions = {"b"};
  report.rows = {{"latency.p50_ns", "ns", true, true, 0.05, verdict, 4e6, 4.6e6, 0.15, stats::Interval{0.12, 0.18},
                  stats::Detectable{0.083, 0.079}, "it is slower"},
                 {"throughput.items_per_second", "1/s", false, false, 0.05, "inconclusive", 250, 217, -0.13,
                  stats::Interval{-0.2, 0.01}, stats::Detectable{0.2, 1}, "who knows"},
                 {"energy.gpu_joules", "J", true, false, 0.05, "inconclusive", {}, {}, {}, {}, {}, "not measured"}};
  return report;
}

TEST(GateMarkdown, HasEveryMetric) {
  const std::string text = gate_markdown(sample());
  EXPECT_THAT(text, HasSubstr("### Regression, major: mlp"));
  EXPECT_THAT(text, HasSubstr("| latency.p50_ns (decides) | 4.00 ms | 4.60 ms | +15.0 % | +12.0 % to +18.0 % |"));
  EXPECT_THAT(text, HasSubstr("| 5.00 % | +8.30 % or -7.90 % | regression |"));
  EXPECT_THAT(text, HasSubstr("| 5.00 % | +20.0 % | inconclusive |")) << "no decrease is ever decided";
  EXPECT_THAT(text, HasSubstr("| energy.gpu_joules |  |  |"));
  EXPECT_THAT(text, HasSubstr("- energy.gpu_joules: not measured\n"));
  EXPECT_THAT(text, HasSubstr("confidence 98.0 %"));
}
TEST(GateMarkdown, NeverReportsFullCertainty) {
  GateReport report = sample();
  report.confidence = 0.99999;
  EXPECT_THAT(gate_markdown(report), HasSubstr("confidence > 99 %"));
}
TEST(GateMarkdown, EscapesTableAndMentions) {
  GateReport report = sample();
  report.name = "a|b\n<img> @user";
  const std::string text = gate_markdown(report);
  EXPECT_THAT(text, Not(HasSubstr("<img>")));
  EXPECT_THAT(text, Not(HasSubstr("@user")));
  EXPECT_THAT(text, HasSubstr("a\\|b &lt;img&gt;"));
}
TEST(GateMarkdown, WithoutNumbers) { EXPECT_THAT(gate_markdown({}), HasSubstr("Undecided")); }

TEST(GateJunit, CountsWhatFailed) {
  const std::string text = gate_junit(sample());
  EXPECT_THAT(text, HasSubstr("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"2\""));
  EXPECT_THAT(text, HasSubstr("<failure type=\"regression\" message=\"it is slower\"/>"));
}
TEST(GateJunit, InconclusiveIsAnError) {
  EXPECT_THAT(gate_junit(sample("inconclusive")), HasSubstr("failures=\"0\" errors=\"1\" skipped=\"2\""));
}
TEST(GateJunit, NotComparableIsAnError) {
  GateReport report = sample("not-comparable");
  report.rows.clear();
  EXPECT_THAT(gate_junit(report), HasSubstr("tests=\"1\" failures=\"0\" errors=\"1\""));
}
TEST(GateJunit, EscapesText) {
  GateReport report = sample();
  report.rows[0].explanation = "a<b & \"c\"\x01";
  EXPECT_THAT(gate_junit(report), HasSubstr("a&lt;b &amp; &quot;c&quot; "));
}

TEST(GateBencher, ValueWithBounds) {
  const core::Json json = gate_bencher(sample());
  EXPECT_EQ(json["mlp"]["latency.p50_ns"]["value"].as_f64(), 4.6e6);
  EXPECT_NEAR(*json["mlp"]["latency.p50_ns"]["lower_value"].as_f64(), 4.48e6, 1);
  EXPECT_FALSE(json["mlp"].contains("energy.gpu_joules"));
}
TEST(GateGithub, EachDirectionApart) {
  const core::Json smaller = gate_github_benchmark(sample(), true), bigger = gate_github_benchmark(sample(), false);
  ASSERT_EQ(smaller.items().size(), 1U);
  ASSERT_EQ(bigger.items().size(), 1U);
  EXPECT_EQ(smaller.items()[0]["name"].text(), "mlp latency.p50_ns");
  EXPECT_EQ(bigger.items()[0]["unit"].text(), "1/s");
}

}  // namespace
}  // namespace aaco::governance
