#include "laboratory/benchmarks/visit_times.h"

#include <algorithm>

#include "stats/summary.h"

namespace aaco::laboratory::benchmarks {
namespace {

constexpr std::int64_t kMinCalls = 5;
constexpr std::int64_t kMaxCalls = 20'000;

}  // namespace

stats::StoppingOptions stopping_of(const BenchmarkSuite& suite) {
  stats::StoppingOptions stopping;
  stopping.kind = stats::StoppingOptions::Kind::precision;
  stopping.precision_ratio = suite.precision_ratio;
  stopping.minimum_iterations = kMinCalls;
  stopping.maximum_iterations = kMaxCalls;
  stopping.maximum_time_ns = suite.visit_ns;
  return stopping;
}

core::Status measure_power(PowerMeter* meter, const std::function<core::Status()>& calls, const std::atomic<bool>& stop,
                           BenchmarkVisit& visit) {
  if (meter == nullptr || visit.round != 0) return {};
  AACO_ASSIGN(const PowerMeter::Reading reading, meter->during(calls, stop));
  visit.power_watts = reading.watts;
  visit.clock_hz = reading.clock_hz;
  visit.memory_clock_hz = reading.memory_clock_hz;
  if (stop.load())
    return core::fail(core::ErrorCode::cancelled, "stopped by the user while measuring the power of " + visit.one.id);
  return {};
}

void summarize(std::vector<double> times, BenchmarkVisit& visit) {
  const stats::Summary summary = stats::summarize(times);
  visit.calls = summary.count;
  visit.lowest_ns = summary.minimum.value_or(0);
  std::sort(times.begin(), times.end());
  visit.median_ns = stats::quantile_of_sorted(times, 0.5);
  visit.p90_ns = stats::quantile_of_sorted(times, 0.9);
  if (summary.p50 && summary.p50->ci95 && visit.median_ns > 0)
    visit.interval_ratio = (summary.p50->ci95->high - summary.p50->ci95->low) / visit.median_ns;
}

}  // namespace aaco::laboratory::benchmarks
