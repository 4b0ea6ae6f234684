#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analytics/metric_catalogue.h"
#include "core/files.h"
#include "tests/support/source_dir.h"

namespace aaco::analytics::metrics {
namespace {

using testing::HasSubstr;

const std::string kFolder = AACO_SOURCE_DIR "/data/metrics";

// A document with one metric of this text.
core::Status added(const std::string& metric) {
  const auto document = core::YamlNode::parse("schema: 1\nmetrics:\n  - {" + metric + "}\n", "test.yaml");
  if (!document) return tl::unexpected<core::Error>(document.error());
  MetricCatalogue catalogue;
  return catalogue.add(*document);
}

std::string refusal(const std::string& metric) {
  const core::Status status = added(metric);
  return status ? "accepted" : status.error().message;
}

const std::string kRest = ", title: t, direction: none, formula: f, meaning: m, source: s";

TEST(MetricCatalogue, LoadsWhatIsPublished) {
  const auto catalogue = MetricCatalogue::load(kFolder);
  ASSERT_TRUE(catalogue) << catalogue.error().text();
  for (const char* id : {"latency.mean_ns",
                         "latency.std_ns",
                         "latency.cov_ratio",
                         "latency.p50_ns",
                         "latency.p90_ns",
                         "latency.p99_ns",
                         "latency.count",
                         "warmup.iterations",
                         "observer.effect_ratio",
                         "throughput.items_per_second",
                         "memory.rss_peak_bytes",
                         "gpu.kernel_count",
                         "gpu.kernel_sum_ns",
                         "gpu.busy_ns",
                         "gpu.span_ns",
                         "gpu.idle_ns",
                         "gpu.compute_ns",
                         "gpu.copy_sum_ns",
                         "gpu.collective_sum_ns",
                         "gpu.exposed_copy_ns",
                         "gpu.exposed_collective_ns",
                         "gpu.orphan_kernel_count",
                         "gpu.linked_kernel_sum_ns",
                         "gpu.microkernel_ratio",
                         "gpu.active_ratio",
                         "launch.tax",
                         "attribution.launch_coverage_ratio",
                         "attribution.time_coverage_ratio",
                         "fingerprint.time_coverage_ratio"})
    EXPECT_NE(catalogue->find(id), nullptr) << id;
  EXPECT_EQ(catalogue->find("latency.p42_ns"), nullptr);
}

TEST(MetricCatalogue, BandsMatchPublishedValues) {
  const auto catalogue = MetricCatalogue::load(kFolder);
  ASSERT_TRUE(catalogue);
  const auto band = [&](const char* id, double value) { return band_of(*catalogue->find(id), value)->name; };
  EXPECT_EQ(band("launch.tax", 0.29), "low");
  EXPECT_EQ(band("launch.tax", 0.3), "moderate");
  EXPECT_EQ(band("launch.tax", 0.7), "moderate");
  EXPECT_EQ(band("launch.tax", 0.71), "high");
  EXPECT_EQ(band("launch.kernel_amplification_ratio", 1), "excellent");
  EXPECT_EQ(band("launch.kernel_amplification_ratio", 1.5), "good");
  EXPECT_EQ(band("launch.kernel_amplification_ratio", 5), "investigate");
  EXPECT_EQ(band("launch.kernel_amplification_ratio", 5.1), "severe");
  EXPECT_EQ(band("gpu.active_ratio", 0.69), "poor");
  EXPECT_EQ(band("gpu.active_ratio", 0.7), "fair");
  EXPECT_EQ(band("gpu.active_ratio", 0.9), "good");
  EXPECT_EQ(band_of(*catalogue->find("latency.mean_ns"), 1), nullptr);
}

TEST(MetricCatalogue, AcceptsAWholeDefinition) {
  EXPECT_EQ(refusal("id: a.b_ns, unit: ns, bands: [{name: x, below: 1}, {name: y}]" + kRest), "accepted");
}

TEST(MetricCatalogue, RefusesAnUnknownKey) {
  EXPECT_THAT(refusal("id: a.b_ns, unit: ns, formulla: f" + kRest), HasSubstr("formulla"));
}
TEST(MetricCatalogue, RefusesAMissingKey) { EXPECT_THAT(refusal("id: a.b_ns, unit: ns, title: t"), HasSubstr("direction")); }
TEST(MetricCatalogue, RefusesAnUnknownUnit) {
  EXPECT_THAT(refusal("id: a.b_ms, unit: ms" + kRest), HasSubstr("unknown unit 'ms'"));
}
TEST(MetricCatalogue, RefusesAnIdWithoutItsUnit) {
  EXPECT_THAT(refusal("id: a.b, unit: ns" + kRest), HasSubstr("must end in _ns"));
}
TEST(MetricCatalogue, RefusesAnIdWithoutGroup) { EXPECT_THAT(refusal("id: time_ns, unit: ns" + kRest), HasSubstr("no group")); }
TEST(MetricCatalogue, RefusesDescendingBands) {
  EXPECT_THAT(refusal("id: a.b_ns, unit: ns, bands: [{name: x, below: 2}, {name: y, below: 1}, {name: z}]" + kRest),
              HasSubstr("ascending"));
}
TEST(MetricCatalogue, RefusesBandsWithoutAnEnd) {
  EXPECT_THAT(refusal("id: a.b_ns, unit: ns, bands: [{name: x, below: 2}]" + kRest), HasSubstr("the last must have none"));
}
TEST(MetricCatalogue, RefusesABandWithTwoBounds) {
  EXPECT_THAT(refusal("id: a.b_ns, unit: ns, bands: [{name: x, below: 2, up_to: 3}, {name: y}]" + kRest), HasSubstr("one bound"));
}
TEST(MetricCatalogue, RefusesAnUnknownDirection) {
  EXPECT_THAT(refusal("id: a.b_ns, unit: ns, title: t, direction: up, formula: f, meaning: m, source: s"), HasSubstr("'up'"));
}

TEST(MetricCatalogue, RefusesAnIdTwice) {
  const auto document = core::YamlNode::parse(
      "schema: 1\nmetrics:\n  - {id: a.b_ns, unit: ns" + kRest + "}\n  - {id: a.b_ns, unit: ns" + kRest + "}\n", "test.yaml");
  ASSERT_TRUE(document);
  MetricCatalogue catalogue;
  const core::Status status = catalogue.add(*document);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("test.yaml:4"));
}

TEST(MetricCatalogue, RefusesAnotherSchema) {
  MetricCatalogue catalogue;
  EXPECT_FALSE(catalogue.add(*core::YamlNode::parse("schema: 2\nmetrics: []\n", "test.yaml")));
  EXPECT_FALSE(catalogue.add(*core::YamlNode::parse("[]\n", "test.yaml")));
}

TEST(MetricCatalogue, RefusesAFolderWithoutDefinitions) {
  EXPECT_FALSE(MetricCatalogue::load(AACO_SOURCE_DIR "/src/core"));
  EXPECT_FALSE(MetricCatalogue::load("/nonexistent"));
}

}  // namespace
}  // namespace aaco::analytics::metrics
