#include "workflows/session_report/report_series.h"

#include <gtest/gtest.h>

#include <numeric>

namespace aaco::workflows {
namespace {

std::int64_t total(const std::vector<report::HistogramBin>& bins) {
  return std::accumulate(bins.begin(), bins.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& bin) { return sum + bin.count; });
}

struct Rows {
  trace::NameTable names;
  std::vector<trace::IterationRow> rows;
  void add(const char* phase, std::int64_t start, std::int64_t duration) {
    trace::IterationRow row;
    row.phase = names.intern(phase);
    row.iteration = static_cast<std::int64_t>(rows.size());
    row.start_ns = start;
    row.duration_ns = duration;
    rows.push_back(row);
  }
};

TEST(Histogram, CountsEveryValueOnce) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(1000 + i % 97);
  values.push_back(1e9);  // far out: in the last bin
  const auto bins = histogram(values);
  EXPECT_EQ(total(bins), 1001);
  EXPECT_GE(bins.back().count, 1);
  for (std::size_t i = 1; i < bins.size(); ++i) EXPECT_DOUBLE_EQ(bins[i].low, bins[i - 1].high);
}

TEST(Histogram, EmptyInputYieldsEmptySeries) { EXPECT_TRUE(histogram({}).empty()); }
TEST(Histogram, OfOneValueIsOneBin) { EXPECT_EQ(total(histogram({5, 5, 5})), 3); }

TEST(IterationPoints, ThinningKeepsExtremesAndCountsFromTheOrigin) {
  Rows rows;
  for (int i = 0; i < 20000; ++i) rows.add("measure", 1'000'000 + i * 100, i == 12345 ? 9000 : 50 + i % 3);
  const auto points = iteration_points(rows.rows, rows.names, 1'000'000, 1000);
  EXPECT_LT(points.size(), 1200U);
  EXPECT_EQ(points.front().start_ns, 0);
  const auto slowest =
      std::max_element(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.duration_ns < b.duration_ns; });
  EXPECT_EQ(slowest->iteration, 12345);
  EXPECT_TRUE(slowest->outlier);
}

TEST(IterationPoints, FewStayAsTheyAre) {
  Rows rows;
  rows.add("warmup", 10, 5);
  rows.add("measure", 20, 6);
  const auto points = iteration_points(rows.rows, rows.names, 10);
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].phase, "warmup");
  EXPECT_FALSE(points[1].outlier);
}

TEST(TelemetrySeries, OneForEachMetricAndEntity) {
  trace::NameTable names;
  std::vector<trace::SystemEventRow> rows;
  for (int i = 0; i < 5000; ++i)
    for (const char* entity : {"cpu0", "cpu1"})
      rows.push_back({0, 100 + i, names.intern("cpu.use_ratio"), names.intern(entity), i == 777 ? 2.0 : 0.5});
  const auto series = telemetry_series(rows, {}, names, 100, 300);
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].unit, "ratio");
  EXPECT_LE(series[0].value.size(), 310U);
  EXPECT_DOUBLE_EQ(*std::max_element(series[0].value.begin(), series[0].value.end()), 2.0);
  EXPECT_EQ(series[0].time_ns.front(), 0);
}

TEST(TelemetrySeries, DevicesOfOneNumberAreApartByRank) {
  trace::NameTable names;
  std::vector<trace::GpuEventRow> rows;
  for (const std::int32_t rank : {0, 1})
    for (int i = 0; i < 3; ++i)
      rows.push_back({rank, 100 + i, 0, names.intern("gpu.power_watts"), names.intern("smi"), 90.0 + rank});
  const auto series = telemetry_series({}, rows, names, 100);
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].entity, "GPU 0 (smi)");
  EXPECT_EQ(series[1].entity, "GPU 0, rank 1 (smi)");
  EXPECT_EQ(series[1].value, (std::vector<double>{91, 91, 91}));
}

TEST(UnitOf, IsTheEndOfTheName) {
  EXPECT_EQ(unit_of("process.rss_bytes"), "bytes");
  EXPECT_EQ(unit_of("cpu.load"), "");
  EXPECT_EQ(unit_of("a_b"), "");
}

}  // namespace
}  // namespace aaco::workflows
