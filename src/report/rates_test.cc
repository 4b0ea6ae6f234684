#include "report/rates.h"

#include <gtest/gtest.h>

#include "report/analysis.h"

namespace aaco::report {
namespace {

AnalysisReport report_of(std::int64_t batch, std::optional<std::int64_t> tokens) {
  AnalysisReport report;
  report.batch = batch;
  report.estimate.latency = {2e9, "ns", estimation::Level::calibrated, "device", 1e9, 4e9};
  report.estimate.energy = estimation::Estimate{100, "J", estimation::Level::theoretical, "specification", 50, 200};
  if (tokens) report.tokens = graph::Tokens{"input_ids", {batch, *tokens / batch}, 1000, *tokens};
  return report;
}

TEST(Rates, AreTheWholeDividedWithItsIntervals) {
  const Rates rates = rates_of(report_of(8, 128));
  EXPECT_EQ(rates.items_per_s.value, 4);
  EXPECT_EQ(rates.items_per_s.lower, 2);
  EXPECT_EQ(rates.items_per_s.upper, 8);
  EXPECT_EQ(rates.items_per_s.level, estimation::Level::calibrated);
  EXPECT_EQ(rates.joules_per_item->value, 12.5);
  EXPECT_EQ(rates.joules_per_item->lower, 6.25);
  EXPECT_EQ(rates.joules_per_item->upper, 25);
  EXPECT_EQ(rates.joules_per_item->level, estimation::Level::theoretical);
  EXPECT_EQ(rates.tokens_per_s->value, 64);
  EXPECT_EQ(rates.joules_per_token->value, 100.0 / 128);
}

TEST(Rates, SlowOnesAreNotZero) {
  EXPECT_EQ(rate_text(1234.6), "1,235");
  EXPECT_EQ(rate_text(100), "100");
  EXPECT_EQ(rate_text(3.456), "3.46");
  EXPECT_EQ(rate_text(0.0035714), "0.00357");
  EXPECT_EQ(rate_text(0), "0");
}

TEST(Rates, OfSeveralDevicesAreOfAllItems) {
  const Rates rates = rates_of(report_of(8, 128), 15, 2);  // a batch of 15: eight and seven
  EXPECT_EQ(rates.items_per_s.value, 7.5);
  EXPECT_EQ(rates.joules_per_item->value, 200.0 / 15);
  EXPECT_EQ(rates.tokens_per_s->value, 120);
  EXPECT_EQ(rates.joules_per_token->value, 200.0 / 240);
}

TEST(Rates, UnknownRatesAreOmitted) {
  AnalysisReport report = report_of(8, std::nullopt);
  EXPECT_FALSE(rates_of(report).tokens_per_s);
  EXPECT_FALSE(rates_of(report).joules_per_token);
  report.tokens = graph::Tokens{"input_ids", {8, 1}, 1000, 8};
  report.estimate.energy.reset();
  const core::Json json = to_json(rates_of(report));
  EXPECT_TRUE(json.contains("tokens_per_s"));
  EXPECT_FALSE(json.contains("joules_per_token"));
  EXPECT_FALSE(json.contains("joules_per_item"));
}

}  // namespace
}  // namespace aaco::report
