#include "analytics/latency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analytics/metrics/test_rows.h"
#include "core/random.h"

namespace aaco::analytics::metrics {
namespace {

double value(const LatencyMetrics& result, std::string_view id) {
  const trace::MetricValue* metric = trace::find_metric(result.metrics, id);
  return metric != nullptr ? metric->value : NAN;
}

bool has(const LatencyMetrics& result, std::string_view id) { return trace::find_metric(result.metrics, id) != nullptr; }

TEST(Latency, EqualsASecondSimpleCalculation) {
  TestRows rows;
  core::Random random(4);
  std::vector<long double> durations;
  for (int i = 0; i < 500; ++i) {
    durations.push_back(static_cast<long double>(1'000'000 + random.below(200'000)));
    rows.iteration("measure", static_cast<std::int64_t>(durations.back()));
  }
  const LatencyMetrics result = latency_metrics(rows.iterations, rows.names, 4);
  long double sum = 0, squares = 0;
  for (const long double duration : durations) sum += duration, squares += duration * duration;
  const long double mean = sum / 500;
  const long double deviation = std::sqrt((squares - 500 * mean * mean) / 499);
  EXPECT_NEAR(value(result, "latency.mean_ns"), static_cast<double>(mean), 1e-6);
  EXPECT_NEAR(value(result, "latency.std_ns"), static_cast<double>(deviation), 1e-6);
  EXPECT_NEAR(value(result, "latency.cov_ratio"), static_cast<double>(deviation / mean), 1e-12);
  EXPECT_NEAR(value(result, "throughput.items_per_second"), static_cast<double>(4e9L / mean), 1e-9);
  std::sort(durations.begin(), durations.end());
  EXPECT_NEAR(value(result, "latency.p50_ns"), static_cast<double>((durations[249] + durations[250]) / 2), 1e-6);
  EXPECT_NEAR(value(result, "latency.p99_ns"), static_cast<double>(durations[494] + (durations[495] - durations[494]) * 0.01L),
              1e-6);
  EXPECT_EQ(value(result, "latency.count"), 500);
  EXPECT_EQ(value(result, "latency.min_ns"), static_cast<double>(durations.front()));
}

TEST(Latency, RefusesP99OfTwentyIterations) {
  TestRows rows;
  for (int i = 0; i < 20; ++i) rows.iteration("measure", 1'000'000 + i);
  const LatencyMetrics result = latency_metrics(rows.iterations, rows.names, 1);
  EXPECT_TRUE(has(result, "latency.p50_ns"));
  EXPECT_FALSE(has(result, "latency.p99_ns") || has(result, "latency.p999_ns"));
}

TEST(Latency, NoMetricsWithoutIterations) {
  TestRows rows;
  EXPECT_TRUE(latency_metrics(rows.iterations, rows.names, 1).metrics.empty());
  rows.iteration("warmup", 5);
  EXPECT_TRUE(latency_metrics(rows.iterations, rows.names, 1).metrics.empty());
}

TEST(Latency, WarmupIsCountedApart) {
  TestRows rows;
  rows.iteration("warmup", 900);
  rows.iteration("warmup", 300);
  for (int i = 0; i < 10; ++i) rows.iteration("measure", 100);
  const LatencyMetrics result = latency_metrics(rows.iterations, rows.names, 1);
  EXPECT_EQ(value(result, "warmup.iterations"), 2);
  EXPECT_EQ(value(result, "warmup.duration_ns"), 1200);
  EXPECT_EQ(value(result, "latency.max_ns"), 100);
  EXPECT_FALSE(has(result, "observer.effect_ratio") || has(result, "profile.slowdown_ratio"));
}

TEST(Latency, NoWarmupIsZeroIterationsAndNoTime) {
  TestRows rows;
  rows.iteration("measure", 100);
  const LatencyMetrics result = latency_metrics(rows.iterations, rows.names, 1);
  EXPECT_EQ(value(result, "warmup.iterations"), 0);
  EXPECT_FALSE(has(result, "warmup.duration_ns"));
}

TEST(Latency, ImportedStepsAreMeasuredToo) {
  TestRows rows;
  for (int i = 0; i < 10; ++i) rows.iteration("step", 200);
  const LatencyMetrics result = latency_metrics(rows.iterations, rows.names, 1);
  EXPECT_EQ(result.measured_phase, "step");
  EXPECT_EQ(value(result, "latency.mean_ns"), 200);
  EXPECT_FALSE(has(result, "warmup.iterations"));  // a trace does not tell
}

TEST(Latency, ObserverEffectFromInterleavedBlocks) {
  TestRows rows;
  for (int block = 0; block < 20; ++block) {
    const bool observed = block % 4 == 1 || block % 4 == 2;
    for (int i = 0; i < 5; ++i) rows.iteration(observed ? "measure_telemetry" : "measure", observed ? 1030 : 1000, block);
  }
  const LatencyMetrics result = latency_metrics(rows.iterations, rows.names, 1);
  EXPECT_NEAR(value(result, "observer.effect_ratio"), 0.03, 1e-12);
  EXPECT_EQ(result.observer->pairs, 10);
  EXPECT_EQ(value(result, "latency.mean_ns"), 1000);  // of the plain blocks alone
}

TEST(Latency, ObserverEffectNeedsSeveralBlocks) {
  TestRows rows;
  for (int i = 0; i < 5; ++i) rows.iteration("measure", 1000, 0);
  for (int i = 0; i < 5; ++i) rows.iteration("measure_telemetry", 1000, 1);
  const LatencyMetrics result = latency_metrics(rows.iterations, rows.names, 1);
  EXPECT_FALSE(has(result, "observer.effect_ratio"));
  EXPECT_FALSE(result.observer->explanation.empty());
}

TEST(Latency, ProfiledPassAgainstTheMeasuredOne) {
  TestRows rows;
  for (int i = 0; i < 9; ++i) rows.iteration("measure", 1000);
  for (int i = 0; i < 3; ++i) rows.iteration("profile", 1250);
  EXPECT_NEAR(value(latency_metrics(rows.iterations, rows.names, 1), "profile.slowdown_ratio"), 0.25, 1e-12);
}

TEST(Latency, NoThroughputWithoutItemsOrTime) {
  TestRows rows;
  rows.iteration("measure", 0);
  EXPECT_FALSE(has(latency_metrics(rows.iterations, rows.names, 1), "throughput.items_per_second"));
  rows.iteration("measure", 10);
  EXPECT_FALSE(has(latency_metrics(rows.iterations, rows.names, 0), "throughput.items_per_second"));
}

TEST(CallerCpu, ComesFromCountedBlocksOnly) {
  TestRows rows;
  for (int block = 0; block < 8; ++block) rows.iteration(block == 7 ? "warmup" : "measure", 1000, block);
  std::vector<trace::LoopBlockRow> blocks;
  for (int block = 0; block < 9; ++block) {
    trace::LoopBlockRow& row = blocks.emplace_back();
    row.phase = rows.names.intern(block == 6 ? "measure_telemetry" : "measure");
    row.block = block;
    row.call_count = block == 4 ? 0 : 10;
    row.caller_cpu_ns = block == 5 ? std::nullopt : std::optional<std::int64_t>(7000 + 10 * block);
  }
  EXPECT_EQ(caller_cpu_of(blocks, rows.iterations, rows.names), (std::vector<double>{700, 701, 702, 703}));
  const auto metrics = caller_cpu_metrics(blocks, rows.iterations, rows.names);
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_EQ(metrics[0].id, "latency.caller_cpu_ns");
  EXPECT_NEAR(metrics[0].value, 701.5, 1e-9);
  EXPECT_TRUE(caller_cpu_metrics({}, rows.iterations, rows.names).empty());
  EXPECT_TRUE(caller_cpu_metrics(blocks, {}, rows.names).empty());
}

TEST(Latency, LoadingTimeFromThePhases) {
  const trace::Metrics metrics = phase_metrics(std::vector<trace::Phase>{{"load", 100, 350}, {"measure", 400, 900}});
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_EQ(metrics[0].value, 250);
  EXPECT_TRUE(phase_metrics({}).empty());
}

}  // namespace
}  // namespace aaco::analytics::metrics
