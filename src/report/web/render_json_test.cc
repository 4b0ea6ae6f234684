#include <gtest/gtest.h>

#include <limits>

#include "report/render.h"

namespace aaco::report {
namespace {

using core::Json;

Json reparsed(const ReportModel& model) { return *Json::parse(render_json(model).dump(-1)); }

TEST(RenderJson, EmptyModelHasItsFrame) {
  const Json report = reparsed({});
  EXPECT_EQ(report["schema"].text(), "aaco.report");
  EXPECT_EQ(report["schema_version"].as_i64(), kReportSchemaVersion);
  EXPECT_TRUE(report["metrics"].is_object());
}
TEST(RenderJson, WhatWasNotMeasuredIsLeftOut) {
  const Json report = reparsed({});
  for (const char* key : {"verdict", "time", "why", "advice", "roofline", "timeline", "iterations", "histogram", "telemetry",
                          "environment", "extra"})
    EXPECT_FALSE(report.contains(key)) << key;
}
TEST(RenderJson, NanosecondsStayIntegers) {
  ReportModel model;
  model.iterations = {{"measure", 0, 4'611'686'018'427'387'905, 7, false, ""}};
  EXPECT_EQ(reparsed(model)["iterations"]["start_ns"].items()[0].as_i64(), 4'611'686'018'427'387'905);
}
TEST(RenderJson, NotFiniteIsNull) {
  ReportModel model;
  model.telemetry = {
      {"m", "", "ratio", {0, 1}, {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}}};
  const Json report = reparsed(model);
  const auto& values = report["telemetry"].items()[0]["value"].items();
  EXPECT_TRUE(values[0].is_null());
  EXPECT_TRUE(values[1].is_null());
}
TEST(RenderJson, RatiosAreNotPercent) {
  ReportModel model;
  model.operators = {{.name = "Conv", .total_ns = 5, .share_ratio = 0.25}};
  EXPECT_EQ(reparsed(model)["time"]["operators"].items()[0]["share_ratio"].as_f64(), 0.25);
}
TEST(RenderJson, RepeatedNamesStandOnce) {
  ReportModel model;
  model.timeline = {{"t", "conv", "Conv", 0, 1}, {"t", "conv", "Conv", 1, 1}, {"t", "relu", "Relu", 2, 1}};
  const Json line = reparsed(model)["timeline"];
  EXPECT_EQ(line["names"].items().size(), 2U);
  EXPECT_EQ(line["name"].items().size(), 3U);
  EXPECT_EQ(line["rows"].as_i64(), 3);
}
TEST(RenderJson, OutliersAndDisturbancesByRow) {
  ReportModel model;
  model.iterations = {{"measure", 0, 0, 1, false, ""}, {"measure", 1, 1, 9, true, "migration"}};
  const Json iterations = reparsed(model)["iterations"];
  EXPECT_EQ(iterations["outliers"].items()[0].as_i64(), 1);
  EXPECT_EQ(iterations["disturbances"].items()[0]["text"].text(), "migration");
}
TEST(RenderJson, InvalidTextBecomesValid) {
  ReportModel model;
  model.verdict =
      "a\xff"
      "b";
  EXPECT_EQ(reparsed(model)["verdict"]["text"].text(), "a\uFFFDb");
}
TEST(RenderJson, AccountsKeepTheirReasons) {
  ReportModel model;
  trace::Account account{.source = "proc"};
  account.drop("torn line", 3);
  model.session.accounts = {account};
  EXPECT_EQ(reparsed(model)["accounts"].items()[0]["dropped"]["torn line"].as_i64(), 3);
}

}  // namespace
}  // namespace aaco::report
