#include "workflows/session/metrics_files.h"

#include <gtest/gtest.h>

#include "tests/support/source_dir.h"

namespace aaco::workflows {
namespace {

const trace::Metrics kMetrics = {
    {"latency.p50_ns", 5e6, "ns", {}, {}},          {"gpu.active_ratio", 0.95, "ratio", {}, 0},
    {"gpu.active_ratio", 0.5, "ratio", {}, 1},      {"launch.tax", 0.9, "", {}, 0},
    {"gpu.microkernel_ratio", 0.1, "ratio", {}, 0}, {"launch.kernel_amplification_ratio", 3, "ratio", {}, 0}};

analytics::metrics::MetricCatalogue catalogue() {
  auto loaded = analytics::metrics::MetricCatalogue::load(std::string(AACO_SOURCE_DIR) + "/data/metrics");
  EXPECT_TRUE(loaded);
  return loaded.value_or(analytics::metrics::MetricCatalogue());
}

TEST(DerivedMetrics, HaveTheirBands) {
  const core::Json metrics = derived_metrics(kMetrics, catalogue())["metrics"];
  EXPECT_EQ(metrics["gpu.active_ratio"].items()[0]["band"].text(), "good");
  EXPECT_EQ(metrics["gpu.active_ratio"].items()[1]["band"].text(), "poor");
  EXPECT_EQ(metrics["launch.tax"]["band"].text(), "high");
  EXPECT_EQ(metrics["gpu.microkernel_ratio"]["band"].text(), "low");
  EXPECT_EQ(metrics["launch.kernel_amplification_ratio"]["band"].text(), "investigate");
  EXPECT_FALSE(metrics.contains("latency.p50_ns"));
}
TEST(DerivedMetrics, AreNotInTheSummaryToo) {
  const core::Json metrics = summary_metrics(kMetrics, catalogue())["metrics"];
  EXPECT_EQ(metrics.members().size(), 1U);
  EXPECT_TRUE(metrics.contains("latency.p50_ns"));
}
TEST(DerivedMetrics, CanBeReadBack) {
  const auto read = trace::metrics_from_json(derived_metrics(kMetrics, catalogue())["metrics"]);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->size(), kMetrics.size() - 1);
}
TEST(DerivedMetrics, WithoutDefinitionsAllAreInTheSummary) {
  EXPECT_TRUE(derived_metrics(kMetrics, {})["metrics"].members().empty());
  EXPECT_EQ(summary_metrics(kMetrics, {})["metrics"].members().size(), 5U);
}

}  // namespace
}  // namespace aaco::workflows
