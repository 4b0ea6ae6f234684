#include "report/quantity.h"

#include <gtest/gtest.h>

#include <limits>

namespace aaco::report {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(FormatQuantity, Durations) { EXPECT_EQ(format_quantity(22.41e6, "ns"), "22.4 ms"); }
TEST(FormatQuantity, Bytes) { EXPECT_EQ(format_quantity(1536, "bytes"), "1.50 KiB"); }
TEST(FormatQuantity, BandwidthIsDecimal) { EXPECT_EQ(format_quantity(5.3e12, "bytes/s"), "5.30 TB/s"); }
TEST(FormatQuantity, RatiosArePercent) { EXPECT_EQ(format_quantity(0.713, "ratio"), "71.3 %"); }
TEST(FormatQuantity, ATraceIsNotNothing) { EXPECT_EQ(format_quantity(1e-5, "ratio"), "<0.01 %"); }
TEST(FormatQuantity, NothingIsZero) { EXPECT_EQ(format_quantity(0, "ratio"), "0.00 %"); }
TEST(FormatQuantity, Counts) { EXPECT_EQ(format_quantity(1200, "count"), "1,200"); }
TEST(FormatQuantity, FractionsOfACount) { EXPECT_EQ(format_quantity(3.25, "count"), "3.25"); }
TEST(FormatQuantity, Clock) { EXPECT_EQ(format_quantity(3.41e9, "hz"), "3.41 GHz"); }
TEST(FormatQuantity, SmallEnergy) { EXPECT_EQ(format_quantity(0.0042, "J"), "4.20 mJ"); }
TEST(FormatQuantity, RatesAreGrouped) { EXPECT_EQ(format_quantity(1066.4, "1/s"), "1,066 /s"); }
TEST(FormatQuantity, UnknownUnitStaysBehind) { EXPECT_EQ(format_quantity(44.03, "items/s"), "44.0 items/s"); }
TEST(FormatQuantity, VeryLongUnitIsCut) { EXPECT_LT(format_quantity(1, std::string(5108, 'k')).size(), 40U); }
TEST(FormatQuantity, NotFiniteIsSaid) { EXPECT_EQ(format_quantity(kInfinite, "ns"), "not a number"); }
TEST(FormatQuantity, NoUnit) { EXPECT_EQ(format_quantity(1.5, ""), "1.50"); }

TEST(FormatQuantity, SmallNumbersHaveThreeDigitsToo) {
  EXPECT_EQ(format_quantity(0.0294, "ms/iter"), "0.0294 ms/iter");
  EXPECT_EQ(format_quantity(0.00142, "ms/iter"), "0.00142 ms/iter");
  EXPECT_EQ(format_quantity(0.57, "ms/iter"), "0.570 ms/iter");
}
TEST(UnitOfMetric, ARateOfSomething) { EXPECT_EQ(unit_of_metric("throughput.items_per_second", "1/s"), "items/s"); }
TEST(UnitOfMetric, ARateIsNotARateOfRates) { EXPECT_EQ(unit_of_metric("launch.rate_per_second", "1/s"), "1/s"); }
TEST(UnitOfMetric, OtherUnitsStay) { EXPECT_EQ(unit_of_metric("latency.p50_ns", "ns"), "ns"); }
TEST(UnitOfMetric, ARateOfNothing) { EXPECT_EQ(unit_of_metric("_per_second", "1/s"), "1/s"); }

TEST(FormatInterval, DigitsFollowTheWidth) { EXPECT_EQ(format_interval({22.57e6, 22.65e6}, "ns"), "22.57 - 22.65 ms"); }
TEST(FormatInterval, WideOnesHaveFew) { EXPECT_EQ(format_interval({26.71e6, 29.94e6}, "ns"), "26.7 - 29.9 ms"); }
TEST(FormatInterval, WhatIsAboveZeroIsNotZero) { EXPECT_EQ(format_interval({0.187e6, 12.17e6}, "ns"), "0.2 - 12 ms"); }
TEST(FormatInterval, AcrossZero) { EXPECT_EQ(format_interval({-0.0024, 0.0086}, "ratio"), "-0.2 - 0.9 %"); }
TEST(FormatInterval, NoMinusZero) { EXPECT_EQ(format_interval({-0.0001, 0.05}, "ratio"), "0.0 - 5.0 %"); }
TEST(FormatInterval, NoWidth) { EXPECT_EQ(format_interval({5e6, 5e6}, "ns"), "5 - 5 ms"); }
TEST(FormatInterval, NotFinite) { EXPECT_EQ(format_interval({0, kInfinite}, "ns"), "not a number"); }

TEST(FormatEstimate, WholePercents) { EXPECT_EQ(format_estimate(0.861), "86 %"); }
TEST(FormatEstimate, NothingShortOfCertainIsCertain) {
  EXPECT_EQ(format_estimate(0.9999), "> 99 %");
  EXPECT_EQ(format_estimate(0.994), "99 %");
  EXPECT_EQ(format_estimate(1), "100 %");
}
TEST(FormatEstimate, OneDigitBelowTen) { EXPECT_EQ(format_estimate(0.0213), "2.1 %"); }

TEST(HalfWidth, IsHalfOfTheIntervalWhereverTheValueIs) {
  EXPECT_EQ(half_width_text({"latency.p50_ns", 100, "ns", trace::Interval{98, 108}, {}}), " +/- 5.00 %");
  EXPECT_EQ(half_width_text({"latency.p50_ns", -100, "ns", trace::Interval{-105, -95}, {}}), " +/- 5.00 %");
}
TEST(HalfWidth, NoneWithoutAnInterval) { EXPECT_EQ(half_width_text({"latency.p50_ns", 100, "ns", {}, {}}), ""); }
TEST(HalfWidth, NoneAboveTheValue) {
  EXPECT_EQ(half_width_text({"llm.ttft_p50_ns", 22, "ns", trace::Interval{20, 1000}, {}}), "");
}
TEST(HalfWidth, NoneOfZero) { EXPECT_EQ(half_width_text({"a", 0, "ns", trace::Interval{-1, 1}, {}}), ""); }
TEST(Typographic, PlusMinus) { EXPECT_EQ(typographic(" +/- 5.00 %"), " \u00B1 5.00 %"); }
TEST(MicroSigns, AfterNumbersOnly) {
  EXPECT_EQ(with_micro_signs("1.5 us of us, 2 uJ, 3 uses"), "1.5 \u00B5s of us, 2 \u00B5J, 3 uses");
}
TEST(MicroSigns, NothingElseChanges) { EXPECT_EQ(with_micro_signs("us 1 ms"), "us 1 ms"); }
TEST(Typographic, MicroAndDash) { EXPECT_EQ(typographic("1.2 - 3.4 us"), "1.2 \u2013 3.4 \u00B5s"); }
TEST(Typographic, Degrees) { EXPECT_EQ(typographic("61 deg C"), "61 \u00B0C"); }
TEST(Typographic, TrueMinus) { EXPECT_EQ(typographic("-2 - -1 %"), "\u22122 \u2013 \u22121 %"); }

TEST(GroupDigits, Thousands) { EXPECT_EQ(group_digits(1234567.891, 1), "1,234,567.9"); }
TEST(GroupDigits, Negative) { EXPECT_EQ(group_digits(-1234, 0), "-1,234"); }
TEST(GroupDigits, ShortOnesStay) { EXPECT_EQ(group_digits(999, 2), "999.00"); }

TEST(ScaleFor, TwoMinutesInMinutes) { EXPECT_EQ(scale_for(120e9, "ns").unit, "min"); }
TEST(ScaleFor, NinetySecondsInSeconds) { EXPECT_EQ(scale_for(90e9, "ns").unit, "s"); }
TEST(ScaleFor, ZeroHasTheSmallestUnit) { EXPECT_EQ(scale_for(0, "bytes").unit, "B"); }

TEST(MetricTitle, FromTheDefinition) {
  ReportModel model;
  model.definitions = {{"latency.p50_ns", "Median latency", "ns", "", "", ""}};
  EXPECT_EQ(metric_title(model, "latency.p50_ns"), "Median latency");
}
TEST(MetricTitle, FromTheId) { EXPECT_EQ(metric_title({}, "latency.p50_ns"), "Latency P50"); }
TEST(MetricTitle, EmptyId) { EXPECT_EQ(metric_title({}, ""), ""); }

TEST(ReportTitle, FromTheOutcome) {
  ReportModel model;
  model.session.outcome =
      trace::outcome_from_json(core::Json::object({{"model", "resnet50"}, {"provider", "CPU"}, {"batch", 4}}));
  EXPECT_EQ(report_title(model), "resnet50, CPU, batch 4");
}
TEST(ReportTitle, FromTheSession) {
  ReportModel model;
  model.session.kind = "import";
  model.session.id.text = "x";
  EXPECT_EQ(report_title(model), "import x");
}
TEST(ReportTitle, NothingKnown) { EXPECT_EQ(report_title({}), "session"); }

}  // namespace
}  // namespace aaco::report
