#include "trace/metric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace aaco::trace {
namespace {

using core::Json;
using testing::HasSubstr;

std::string text(const Metrics& metrics) { return to_json(metrics).dump(-1); }
std::string refusal(std::string_view document) {
  const auto result = metrics_from_json(*Json::parse(document));
  return result ? "accepted" : result.error().text();
}

TEST(MetricsJson, ValueAndUnit) {
  EXPECT_EQ(text({{"a.b_ratio", 0.25, "ratio"}}), R"({"a.b_ratio":{"value":0.25,"unit":"ratio"}})");
}
TEST(MetricsJson, WholeNumbersAreIntegers) { EXPECT_EQ(text({{"a", 3e9, "ns"}}), R"({"a":{"value":3000000000,"unit":"ns"}})"); }
TEST(MetricsJson, Interval) {
  EXPECT_EQ(text({{"a", 2, "ns", Interval{1.5, 2.5}}}), R"({"a":{"value":2,"unit":"ns","ci95":[1.5,2.5]}})");
}
TEST(MetricsJson, SeveralDevicesAreAList) {
  EXPECT_EQ(text({{"p", 1, "W", {}, 0}, {"p", 2, "W", {}, 1}}),
            R"({"p":[{"value":1,"unit":"W","device":0},{"value":2,"unit":"W","device":1}]})");
}
TEST(MetricsJson, NaNIsNotAMeasurement) { EXPECT_EQ(text({{"a", std::nan(""), "ns"}, {"b", HUGE_VAL, "ns"}}), "{}"); }
TEST(MetricsJson, UnboundedIntervalIsLeftOut) {
  EXPECT_EQ(text({{"a", 1, "ns", Interval{0, HUGE_VAL}}}), R"({"a":{"value":1,"unit":"ns"}})");
}
TEST(MetricsJson, Nothing) { EXPECT_EQ(text({}), "{}"); }
TEST(MetricsJson, RoundTrip) {
  const Metrics metrics = {
      {"p", 1, "W", {}, 0}, {"p", 2.5, "W", Interval{2, 3}, 1}, {"latency.p50_ns", 12345, "ns"}, {"d", 4, "count", {}, 7}};
  EXPECT_EQ(*metrics_from_json(*Json::parse(to_json(metrics).dump())), metrics);
}

TEST(MetricsRefuse, NoValue) { EXPECT_THAT(refusal(R"({"a":{"unit":"ns"}})"), HasSubstr("the metric a has no value")); }
TEST(MetricsRefuse, NullValue) { EXPECT_NE(refusal(R"({"a":{"value":null,"unit":"ns"}})"), "accepted"); }
TEST(MetricsRefuse, TextValue) { EXPECT_NE(refusal(R"({"a":{"value":"1","unit":"ns"}})"), "accepted"); }
TEST(MetricsRefuse, BareNumber) { EXPECT_NE(refusal(R"({"a":1})"), "accepted"); }
TEST(MetricsRefuse, HalfAnInterval) { EXPECT_THAT(refusal(R"({"a":{"value":1,"unit":"ns","ci95":[1]}})"), HasSubstr("ci95")); }
TEST(MetricsRefuse, IntervalOfTexts) {
  EXPECT_THAT(refusal(R"({"a":{"value":1,"unit":"ns","ci95":["1","2"]}})"), HasSubstr("ci95"));
}
TEST(MetricsRefuse, FractionalDevice) {
  EXPECT_THAT(refusal(R"({"a":{"value":1,"unit":"ns","device":0.5}})"), HasSubstr("device"));
}
TEST(MetricsRefuse, List) { EXPECT_NE(refusal("[]"), "accepted"); }

TEST(FindMetric, First) { EXPECT_EQ(find_metric({{"a", 1, "ns"}, {"a", 2, "ns"}}, "a")->value, 1); }
TEST(FindMetric, OfADevice) {
  const Metrics metrics = {{"p", 1, "W", {}, 0}, {"p", 2, "W", {}, 1}};
  EXPECT_EQ(find_metric(metrics, "p", 1)->value, 2);
}
TEST(FindMetric, Missing) { EXPECT_EQ(find_metric({{"a", 1, "ns"}}, "b"), nullptr); }
TEST(FindMetric, MissingDevice) {
  const Metrics metrics = {{"p", 1, "W", {}, 0}};
  EXPECT_EQ(find_metric(metrics, "p", 3), nullptr);
}

}  // namespace
}  // namespace aaco::trace
