#include "governance/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/strings.h"

namespace aaco::governance {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kDay = 86'400'000'000'000;

Baseline sample() {
  Baseline baseline;
  baseline.name = "resnet50-cpu";
  baseline.owner = "perf \"team\": A";
  baseline.reason = "release 3\nsecond line";
  baseline.created_realtime_ns = 20'000 * kDay;
  baseline.expires_realtime_ns = 20'090 * kDay;
  baseline.decides = "latency.p50_ns";
  baseline.budgets = {{"latency.p50_ns", {0.03, true}}, {"throughput.items_per_second", {0.05, false}}};
  baseline.tool_version = "0.1";
  baseline.request = R"({"model": "resnet50"})";
  baseline.fingerprint = {{"batch", "1"}, {"cpu.model", "AMD EPYC: 9654"}};
  BaselineSession session{"20261121T081530Z-3f9a1c", "run", "nightly", "iteration", "0123456789abcdef", 1.0, 3, {}, {}, {}};
  session.iterations_ns = {3812000.5, 3900000, 1e9 / 3};
  session.series["gpu.busy_ns"] = {10, 11};
  session.metrics = {{"latency.p50_ns", 3.9e6, "ns", trace::Interval{3.8e6, 4e6}, {}}, {"gpu.busy_ns", 5, "ns", {}, 1}};
  baseline.sessions = {session};
  return baseline;
}

std::string error_of(const std::string& text) {
  const auto read = parse_baseline(text, "b.yaml");
  return read ? "accepted" : read.error().text();
}
std::string changed(std::string_view from, std::string_view to) {
  const std::string text = to_yaml(sample());
  EXPECT_NE(text.find(from), std::string::npos) << from;
  return core::replace_all(text, std::string(from), std::string(to));
}

TEST(BaselineFile, RoundTrip) {
  const auto read = parse_baseline(to_yaml(sample()), "b.yaml");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, sample());
}
TEST(BaselineFile, AnotherSchemaVersion) {
  EXPECT_THAT(error_of(changed("schema_version: 1", "schema_version: 2")), HasSubstr("schema version 2"));
}
TEST(BaselineFile, RefusesMissingName) { EXPECT_THAT(error_of(changed("name: \"resnet50-cpu\"", "nam: x")), HasSubstr("nam")); }
TEST(BaselineFile, RefusesPathAsName) {
  EXPECT_THAT(error_of(changed("\"resnet50-cpu\"", "\"../x\"")), HasSubstr("not a valid baseline name"));
}
TEST(BaselineFile, UnknownKey) { EXPECT_THAT(error_of(changed("owner:", "ower: x\nowner:")), HasSubstr("ower")); }
TEST(BaselineFile, RefusesInvalidTime) {
  EXPECT_THAT(error_of(changed("created: \"20", "created: \"x20")), HasSubstr("is not a valid time"));
}
TEST(BaselineFile, ZeroTimeOfAnIteration) { EXPECT_THAT(error_of(changed("3812000.5", "0")), HasSubstr("must be above 0")); }
TEST(BaselineFile, NegativeTime) { EXPECT_THAT(error_of(changed("3812000.5", "-3")), HasSubstr("b.yaml:")); }
TEST(BaselineFile, NotANumber) { EXPECT_THAT(error_of(changed("3812000.5", ".nan")), HasSubstr("b.yaml:")); }
TEST(BaselineFile, RefusesReversedInterval) {
  EXPECT_THAT(error_of(changed("[3800000, 4000000]", "[4000000, 3800000]")), HasSubstr("the lower one first"));
}
TEST(BaselineFile, RefusesExcessiveBudget) {
  EXPECT_THAT(error_of(changed("loss: 0.03", "loss: 30")), HasSubstr("is not a valid budget"));
}
TEST(BaselineFile, UnknownDirection) { EXPECT_THAT(error_of(changed("better: higher", "better: up")), HasSubstr("'up'")); }
TEST(BaselineFile, DecidingMetricWithoutBudget) {
  EXPECT_THAT(error_of(changed("decides: \"latency.p50_ns\"", "decides: x")), HasSubstr("no budget"));
}
TEST(BaselineFile, NoSessions) {
  EXPECT_THAT(error_of(to_yaml(sample()).substr(0, to_yaml(sample()).find("sessions:")) + "sessions: []\n"),
              HasSubstr("at least one session"));
}
TEST(BaselineFile, NoDocument) { EXPECT_THAT(error_of(""), HasSubstr("not a baseline file")); }
TEST(BaselineFile, SurvivesTruncationAnywhere) {
  const std::string text = to_yaml(sample());
  for (std::size_t size = 0; size < text.size(); size += 7) (void)parse_baseline(text.substr(0, size), "b.yaml");
}

TEST(BaselineApproval, ValidForApprovedContent) {
  Baseline baseline = sample();
  EXPECT_EQ(approval_state(baseline), Approved::no);
  baseline.approval = Approval{"ada", 20'001 * kDay, content_hash(baseline)};
  EXPECT_EQ(approval_state(baseline), Approved::yes);
  const auto read = parse_baseline(to_yaml(baseline), "b.yaml");
  ASSERT_TRUE(read);
  EXPECT_EQ(approval_state(*read), Approved::yes);
}
TEST(BaselineApproval, InvalidAfterAChange) {
  Baseline baseline = sample();
  baseline.approval = Approval{"ada", 20'001 * kDay, content_hash(baseline)};
  baseline.budgets["latency.p50_ns"].loss_ratio = 0.5;
  EXPECT_EQ(approval_state(baseline), Approved::changed_since);
}
TEST(BaselineExpiry, AtTheMoment) {
  EXPECT_FALSE(expired(sample(), 20'090 * kDay - 1));
  EXPECT_TRUE(expired(sample(), 20'090 * kDay));
}
TEST(BaselineExpiry, NeverWithoutOne) {
  Baseline baseline = sample();
  baseline.expires_realtime_ns.reset();
  EXPECT_FALSE(expired(baseline, INT64_MAX));
}
TEST(BaselineName, BecomesAFileName) {
  for (const char* good : {"a", "resnet50_cpu-1.2"}) EXPECT_TRUE(check_baseline_name(good)) << good;
  for (const char* bad : {"", ".hidden", "a/b", "a b", "ä"}) EXPECT_FALSE(check_baseline_name(bad)) << bad;
}
TEST(ThinSeries, KeepsOrderAndEnds) {
  std::vector<double> series;
  for (int i = 0; i < 2500; ++i) series.push_back(i);
  const auto kept = thin_series(series, 1000);
  EXPECT_EQ(kept.size(), 1000U);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  EXPECT_EQ(thin_series({1, 2}, 1000).size(), 2U);
}

}  // namespace
}  // namespace aaco::governance
