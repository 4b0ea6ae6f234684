#include <gtest/gtest.h>

#include <limits>

#include "report/render.h"

namespace aaco::report {
namespace {

std::string metric_line(const std::string& id, double value) {
  ReportModel model;
  model.metrics = {{id, value, "ns", {}, {}}};
  return render_csv(model, "metrics")->substr(std::string("id,device,value,unit,ci95_low,ci95_high\r\n").size());
}

TEST(RenderCsv, EveryTableHasAHeader) {
  for (const auto table : kCsvTables) {
    const auto csv = render_csv({}, table);
    ASSERT_TRUE(csv) << table;
    EXPECT_TRUE(csv->ends_with("\r\n")) << table;
  }
}
TEST(RenderCsv, PlainFields) { EXPECT_EQ(metric_line("latency.p50_ns", 22.5), "latency.p50_ns,,22.5,ns,,\r\n"); }
TEST(RenderCsv, CommaIsQuoted) { EXPECT_EQ(metric_line("a,b", 1), "\"a,b\",,1,ns,,\r\n"); }
TEST(RenderCsv, QuoteIsDoubled) { EXPECT_EQ(metric_line("a\"b", 1), "\"a\"\"b\",,1,ns,,\r\n"); }
TEST(RenderCsv, LineEndIsQuoted) { EXPECT_EQ(metric_line("a\r\nb", 1), "\"a\r\nb\",,1,ns,,\r\n"); }
TEST(RenderCsv, OuterSpaceIsQuoted) { EXPECT_EQ(metric_line(" a", 1), "\" a\",,1,ns,,\r\n"); }
TEST(RenderCsv, NotFiniteIsEmpty) { EXPECT_EQ(metric_line("a", std::numeric_limits<double>::quiet_NaN()), "a,,,ns,,\r\n"); }
TEST(RenderCsv, NumbersReadBack) { EXPECT_EQ(metric_line("a", 0.1), "a,,0.1,ns,,\r\n"); }
TEST(RenderCsv, NotMeasuredIntervalIsEmpty) {
  ReportModel model;
  model.nodes = {{.name = "n", .total_ns = 5, .share_ratio = 0.5, .count = 2}};
  EXPECT_TRUE(render_csv(model, "nodes")->ends_with("n,,,,5,0.5,2,,\r\n"));
}
TEST(RenderCsv, UnknownTableNamesTheNearest) {
  const auto csv = render_csv({}, "operaters");
  ASSERT_FALSE(csv);
  EXPECT_EQ(csv.error().code, core::ErrorCode::invalid_argument);
  EXPECT_NE(csv.error().message.find("'operators'"), std::string::npos);
}

}  // namespace
}  // namespace aaco::report
