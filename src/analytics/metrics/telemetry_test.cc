#include "analytics/telemetry.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analytics/latency.h"
#include "analytics/metric_catalogue.h"
#include "analytics/metrics/test_rows.h"
#include "analytics/node_time.h"
#include "tests/support/source_dir.h"

namespace aaco::analytics::metrics {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

double value(const trace::Metrics& metrics, std::string_view id) {
  const trace::MetricValue* metric = trace::find_metric(metrics, id);
  return metric != nullptr ? metric->value : NAN;
}

bool has(const trace::Metrics& metrics, std::string_view id) { return trace::find_metric(metrics, id) != nullptr; }

ObservedWork one_second(std::int64_t iterations = 10) { return {{{0, kSecond}}, iterations}; }

std::vector<Sample> samples_of(double (*f)(double), int count, double seconds) {
  std::vector<Sample> samples;
  for (int i = 0; i <= count; ++i) {
    const double t = seconds * i / count;
    samples.push_back({static_cast<std::int64_t>(t * 1e9), f(t)});
  }
  return samples;
}

TEST(Integrate, ConstantPowerIsExact) {
  const auto energy = integrate(samples_of([](double) { return 100.0; }, 10, 1), one_second().windows, 0);
  EXPECT_NEAR(energy->value, 100, 1e-9);
  EXPECT_NEAR(energy->bound, 0, 1e-9);
  EXPECT_DOUBLE_EQ(energy->covered_ratio, 1);
}

TEST(Integrate, BoundCoversTheTruth) {
  // The integral of 100 + 50 sin(2 pi 3 t) over one second is 100.
  const auto energy =
      integrate(samples_of([](double t) { return 100 + 50 * std::sin(18.849556 * t); }, 25, 1), one_second().windows, 0);
  EXPECT_NEAR(energy->value, 100, energy->bound);
  EXPECT_GT(energy->bound, 0);
  EXPECT_LT(energy->bound, 20);
}

TEST(Integrate, WindowCutsSteps) {
  const std::vector<Window> half{{kSecond / 4, 3 * kSecond / 4}};
  EXPECT_NEAR(integrate(samples_of([](double t) { return 10 * t; }, 10, 1), half, 0)->value, 2.5, 1e-9);
}

TEST(Integrate, SensorAccuracyWidensTheBound) {
  EXPECT_NEAR(integrate(samples_of([](double) { return 100.0; }, 10, 1), one_second().windows, 0.05)->bound, 5, 1e-9);
}

TEST(Integrate, SkipsPauses) {
  std::vector<Sample> samples;
  for (int i = 0; i < 10; ++i) samples.push_back({i * 10'000'000, 100});
  for (int i = 0; i < 10; ++i) samples.push_back({kSecond + i * 10'000'000, 300});
  const std::vector<Window> both{{0, 90'000'000}, {kSecond, kSecond + 90'000'000}};
  EXPECT_NEAR(integrate(samples, both, 0)->value, 0.09 * 400, 1e-9);
  const std::vector<Window> across{{0, kSecond + 90'000'000}};
  EXPECT_FALSE(integrate(samples, across, 0));  // 17 % of it was seen
}

TEST(Integrate, RefusesInvalidSeries) {
  EXPECT_FALSE(integrate({}, one_second().windows, 0));
  EXPECT_FALSE(integrate(std::vector<Sample>{{0, 1}}, one_second().windows, 0));
  EXPECT_FALSE(integrate(samples_of([](double) { return 1.0; }, 10, 1), {}, 0));
  EXPECT_FALSE(integrate(std::vector<Sample>{{5, 1}, {5, 2}}, one_second().windows, 0));
}

TEST(ObservedWork, BlocksWithTelemetry) {
  TestRows rows;
  for (int i = 0; i < 3; ++i) rows.iteration("measure", 100, 0);
  for (int i = 0; i < 3; ++i) rows.iteration("measure_telemetry", 100, 1);
  rows.now_ns += 5000;
  for (int i = 0; i < 2; ++i) rows.iteration("measure_telemetry", 100, 2);
  const ObservedWork work = observed_work(rows.iterations, rows.names);
  EXPECT_EQ(work.iterations, 5);
  EXPECT_EQ(work.windows, (std::vector<Window>{{1300, 1600}, {6600, 6800}}));
}

TEST(ObservedWork, FallsBackToTheMeasuredIterations) {
  TestRows rows;
  rows.iteration("measure", 100, 0);
  EXPECT_EQ(observed_work(rows.iterations, rows.names).windows, (std::vector<Window>{{1000, 1100}}));
  EXPECT_TRUE(observed_work({}, rows.names).windows.empty());
}

TEST(HostMetrics, MeansOverTheWindowsOnly) {
  TestRows rows;
  for (int i = 0; i < 10; ++i) rows.sample("cpu.use_ratio", "", i * kSecond / 10, i % 2 == 0 ? 0.4 : 0.6);
  rows.sample("cpu.use_ratio", "cpu0", 0, 1.0);
  rows.sample("cpu.use_ratio", "", 5 * kSecond, 1.0);
  const trace::Metrics metrics = host_metrics(rows.host, rows.names, one_second());
  EXPECT_NEAR(value(metrics, "cpu.use_ratio"), 0.5, 1e-12);
  EXPECT_TRUE(trace::find_metric(metrics, "cpu.use_ratio")->ci95);
}

TEST(HostMetrics, IntervalsStayWithinValidRange) {
  TestRows rows;
  rows.sample("cpu.use_ratio", "", 0, 0.05);
  rows.sample("cpu.use_ratio", "", kSecond / 2, 0.9);
  const trace::Metrics metrics = host_metrics(rows.host, rows.names, one_second());
  const auto* use = trace::find_metric(metrics, "cpu.use_ratio");
  ASSERT_TRUE(use != nullptr && use->ci95);
  EXPECT_EQ(use->ci95->low, 0);
  EXPECT_EQ(use->ci95->high, 1);
}

TEST(HostMetrics, ConvertsRatesToPerIterationAmounts) {
  TestRows rows;
  for (int i = 1; i < 10; ++i) rows.sample("process.voluntary_switches_per_second", "tree", i * kSecond / 10, 200);
  EXPECT_NEAR(value(host_metrics(rows.host, rows.names, one_second(50)), "process.voluntary_switches_per_iteration_count"), 4,
              1e-12);
  EXPECT_TRUE(host_metrics(rows.host, rows.names, one_second(0)).empty());  // iterations unknown
}

TEST(HostMetrics, PeakMemoryIsTheLargerOfSamplesAndHighWaterMark) {
  TestRows rows;
  rows.sample("process.rss_bytes", "tree", 10, 300);
  rows.sample("process.rss_bytes", "tree", -50, 400);  // before the window
  EXPECT_EQ(value(host_metrics(rows.host, rows.names, one_second()), "memory.rss_peak_bytes"), 400);
  rows.sample("process.rss_peak_bytes", "pid 1", 20, 450);
  EXPECT_EQ(value(host_metrics(rows.host, rows.names, one_second()), "memory.rss_peak_bytes"), 450);
}

TEST(HostMetrics, NoMetricsWithoutSamples) {
  TestRows rows;
  EXPECT_TRUE(host_metrics(rows.host, rows.names, one_second()).empty());
  rows.sample("cpu.use_ratio", "", 0, NAN);
  EXPECT_TRUE(host_metrics(rows.host, rows.names, one_second()).empty());
}

TEST(HostMetrics, CpuEnergyNeedsEveryPackage) {
  TestRows rows;
  for (int i = -1; i <= 11; ++i) {
    rows.sample("cpu.energy_joules", "package-0", i * kSecond / 10, 7 + 6.0 * i);
    rows.sample("cpu.energy_joules", "package-0 core", i * kSecond / 10, 4.0 * i);  // inside the package
    rows.sample("cpu.energy_joules", "psys", i * kSecond / 10, 9.0 * i);            // around it
  }
  EXPECT_NEAR(value(host_metrics(rows.host, rows.names, one_second()), "energy.cpu_joules"), 60, 1e-6);
  EXPECT_NEAR(value(host_metrics(rows.host, rows.names, one_second(30)), "energy.cpu_per_iteration_joules"), 2, 1e-6);
  rows.sample("cpu.energy_joules", "package-1", 0, 60);
  EXPECT_FALSE(has(host_metrics(rows.host, rows.names, one_second()), "energy.cpu_joules"));
}

TEST(HostMetrics, HottestSensor) {
  TestRows rows;
  rows.sample("cpu.temperature_celsius", "Tctl", kSecond / 2, 71);
  rows.sample("cpu.temperature_celsius", "Tccd1", kSecond / 2, 75);
  rows.sample("cpu.temperature_celsius", "Tccd1", 3 * kSecond, 99);  // outside the window
  EXPECT_EQ(value(host_metrics(rows.host, rows.names, one_second()), "cpu.temperature_peak_celsius"), 75);
}

TEST(GpuMetrics, PerDevice) {
  TestRows rows;
  for (int i = 0; i <= 10; ++i) {
    rows.gpu_sample("gpu.power_watts", 0, i * kSecond / 10, 300);
    rows.gpu_sample("gpu.power_watts", 1, i * kSecond / 10, 100);
  }
  const trace::Metrics metrics = gpu_metrics(rows.gpu, rows.names, one_second());
  EXPECT_NEAR(trace::find_metric(metrics, "energy.gpu_joules", 0)->value, 300, 1e-9);
  EXPECT_NEAR(trace::find_metric(metrics, "energy.gpu_per_iteration_joules", 1)->value, 10, 1e-9);
  EXPECT_NEAR(trace::find_metric(metrics, "energy.gpu_joules", 0)->ci95->high, 315, 1e-9);
}

TEST(GpuMetrics, PrefersEnergyCounterOverPower) {
  TestRows rows;
  for (int i = 0; i <= 10; ++i) {
    rows.gpu_sample("gpu.power_watts", 0, i * kSecond / 10, 100);
    rows.gpu_sample("gpu.energy_joules", 0, i * kSecond / 10, 1000 + 25.0 * i);
  }
  EXPECT_NEAR(value(gpu_metrics(rows.gpu, rows.names, one_second()), "energy.gpu_joules"), 250, 1e-6);
}

TEST(GpuMetrics, IgnoresBackwardCounter) {
  TestRows rows;
  for (int i = 0; i <= 10; ++i) {
    rows.gpu_sample("gpu.power_watts", 0, i * kSecond / 10, 100);
    rows.gpu_sample("gpu.energy_joules", 0, i * kSecond / 10, i == 5 ? 0 : 1000 + 25.0 * i);
  }
  EXPECT_NEAR(value(gpu_metrics(rows.gpu, rows.names, one_second()), "energy.gpu_joules"), 100, 1e-6);
}

// What the collectors write and the rules read.
constexpr const char* kHostMetrics[] = {"cpu.use_ratio",
                                        "cpu.user_ratio",
                                        "cpu.system_ratio",
                                        "cpu.iowait_ratio",
                                        "cpu.steal_ratio",
                                        "system.context_switches_per_second",
                                        "system.interrupts_per_second",
                                        "process.cpu_use_cores",
                                        "process.run_queue_wait_ratio",
                                        "process.threads_count",
                                        "process.rss_bytes",
                                        "process.voluntary_switches_per_second",
                                        "process.involuntary_switches_per_second",
                                        "process.minor_faults_per_second",
                                        "process.major_faults_per_second",
                                        "process.storage_read_bytes_per_second",
                                        "process.storage_write_bytes_per_second",
                                        "memory.available_bytes",
                                        "memory.swap_in_pages_per_second",
                                        "pressure.cpu_some_ratio",
                                        "pressure.memory_some_ratio",
                                        "pressure.memory_full_ratio",
                                        "pressure.io_some_ratio",
                                        "pressure.io_full_ratio"};
constexpr const char* kGpuMetrics[] = {"gpu.use_ratio",
                                       "gpu.memory_use_ratio",
                                       "gpu.power_watts",
                                       "gpu.clock_hz",
                                       "gpu.memory_clock_hz",
                                       "gpu.vram_used_bytes",
                                       "gpu.temperature_celsius",
                                       "gpu.energy_joules",
                                       "gpu.throttled_power_ratio",
                                       "gpu.throttled_thermal_ratio"};

// Whatever is computed is defined, under the unit it is published with.
TEST(Metrics, EveryComputedMetricIsInTheCatalogue) {
  TestRows rows;
  for (int i = 0; i < 5; ++i) rows.iteration("warmup", 1000);
  for (int i = 0; i < 3000; ++i) rows.iteration(i % 100 < 50 ? "measure" : "measure_telemetry", 1000 + i % 7, i / 50);
  for (int i = 0; i < 4000; ++i) rows.iteration("measure", 1000 + i % 7, 99);
  const std::int64_t start = rows.now_ns;
  rows.iteration("profile", 1000);
  rows.node(0, "Conv_1", start, 500);
  for (int i = 0; i < 10; ++i) {
    for (const char* metric : kHostMetrics) {
      rows.sample(metric, "", 1000 + i * 5000, 1 + i);
      rows.sample(metric, "tree", 1000 + i * 5000, 1 + i);
    }
    rows.sample("cpu.clock_hz", "cpu0", 1000 + i * 5000, 2e9);
    rows.sample("cpu.energy_joules", "package-0", 1000 + i * 5000, 30 * i);
    rows.sample("cpu.temperature_celsius", "Tctl", 1000 + i * 5000, 50);
    rows.sample("cgroup.throttled_ratio", "cgroup", 1000 + i * 5000, 0.1);
    for (const char* metric : kGpuMetrics) rows.gpu_sample(metric, 0, 1000 + i * 5000, 1 + i);
  }
  const ObservedWork work{{{1000, 46000}}, 10};
  trace::Metrics metrics = latency_metrics(rows.iterations, rows.names, 1).metrics;
  const trace::Metrics others[] = {node_time(rows.iterations, rows.executions, rows.names).metrics,
                                   host_metrics(rows.host, rows.names, work), gpu_metrics(rows.gpu, rows.names, work),
                                   phase_metrics(std::vector<trace::Phase>{{"load", 0, 1}})};
  for (const trace::Metrics& other : others) metrics.insert(metrics.end(), other.begin(), other.end());
  EXPECT_GT(metrics.size(), 60U);
  const auto catalogue = MetricCatalogue::load(AACO_SOURCE_DIR "/data/metrics");
  ASSERT_TRUE(catalogue);
  for (const trace::MetricValue& metric : metrics) {
    const MetricDefinition* definition = catalogue->find(metric.id);
    ASSERT_NE(definition, nullptr) << metric.id;
    EXPECT_EQ(definition->unit, metric.unit) << metric.id;
    EXPECT_EQ(definition->per_device, metric.device.has_value()) << metric.id;
  }
}

}  // namespace
}  // namespace aaco::analytics::metrics
