#include <algorithm>
#include <array>
#include <cmath>

#include "analytics/metrics/reduction.h"
#include "analytics/metrics/series.h"
#include "analytics/telemetry.h"

namespace aaco::analytics::metrics {
namespace {

// "" is the machine, "tree" the observed process with its descendants, "cgroup" its control group (src/collectors/proc writes
// them so).
constexpr std::string_view kMachine = "";
constexpr std::string_view kTree = "tree";
constexpr std::string_view kGroup = "cgroup";

struct HostRule {
  std::string_view id;  // published
  std::string_view metric;
  std::string_view entity;
  Reduction reduction;
  std::string_view unit;
};

constexpr std::array kHostRules = {
    HostRule{"cpu.use_ratio", "cpu.use_ratio", kMachine, Reduction::mean, "ratio"},
    HostRule{"cpu.user_ratio", "cpu.user_ratio", kMachine, Reduction::mean, "ratio"},
    HostRule{"cpu.system_ratio", "cpu.system_ratio", kMachine, Reduction::mean, "ratio"},
    HostRule{"cpu.iowait_ratio", "cpu.iowait_ratio", kMachine, Reduction::mean, "ratio"},
    HostRule{"cpu.steal_ratio", "cpu.steal_ratio", kMachine, Reduction::mean, "ratio"},
    HostRule{"cpu.context_switches_per_second", "system.context_switches_per_second", kMachine, Reduction::mean, "1/s"},
    HostRule{"cpu.interrupts_per_second", "system.interrupts_per_second", kMachine, Reduction::mean, "1/s"},
    HostRule{"process.cpu_use_cores", "process.cpu_use_cores", kTree, Reduction::mean, "cores"},
    HostRule{"process.run_queue_wait_ratio", "process.run_queue_wait_ratio", kTree, Reduction::mean, "ratio"},
    HostRule{"process.threads_count", "process.threads_count", kTree, Reduction::maximum, "count"},
    HostRule{"process.rss_mean_bytes", "process.rss_bytes", kTree, Reduction::mean, "bytes"},
    HostRule{"process.voluntary_switches_per_iteration_count", "process.voluntary_switches_per_second", kTree,
             Reduction::rate_to_amount, "count"},
    HostRule{"process.involuntary_switches_per_iteration_count", "process.involuntary_switches_per_second", kTree,
             Reduction::rate_to_amount, "count"},
    HostRule{"process.minor_faults_per_iteration_count", "process.minor_faults_per_second", kTree, Reduction::rate_to_amount,
             "count"},
    HostRule{"process.major_faults_per_iteration_count", "process.major_faults_per_second", kTree, Reduction::rate_to_amount,
             "count"},
    HostRule{"process.storage_read_per_iteration_bytes", "process.storage_read_bytes_per_second", kTree,
             Reduction::rate_to_amount, "bytes"},
    HostRule{"process.storage_write_per_iteration_bytes", "process.storage_write_bytes_per_second", kTree,
             Reduction::rate_to_amount, "bytes"},
    HostRule{"cgroup.throttled_ratio", "cgroup.throttled_ratio", kGroup, Reduction::mean, "ratio"},
    HostRule{"memory.available_minimum_bytes", "memory.available_bytes", kMachine, Reduction::minimum, "bytes"},
    HostRule{"memory.swap_in_per_second", "memory.swap_in_pages_per_second", kMachine, Reduction::mean, "1/s"},
    HostRule{"pressure.cpu_some_ratio", "pressure.cpu_some_ratio", kMachine, Reduction::mean, "ratio"},
    HostRule{"pressure.memory_some_ratio", "pressure.memory_some_ratio", kMachine, Reduction::mean, "ratio"},
    HostRule{"pressure.memory_full_ratio", "pressure.memory_full_ratio", kMachine, Reduction::mean, "ratio"},
    HostRule{"pressure.io_some_ratio", "pressure.io_some_ratio", kMachine, Reduction::mean, "ratio"},
    HostRule{"pressure.io_full_ratio", "pressure.io_full_ratio", kMachine, Reduction::mean, "ratio"},
};

// The most memory the processes held: the sampled sum over the tree, or one process's own high-water mark where that is more (the
// kernel keeps it between samples). All samples count, for a peak before the windows was a peak as well.
void add_peak_memory(const SeriesIndex& index, trace::Metrics& metrics) {
  std::optional<double> peak;
  const auto raise = [&](const SampleSeries& series) {
    for (const Sample& sample : series.samples) peak = std::max(peak.value_or(sample.value), sample.value);
  };
  if (const SampleSeries* tree = index.find("process.rss_bytes", kTree)) raise(*tree);
  for (const SampleSeries& series : index.of("process.rss_peak_bytes")) raise(series);
  if (peak) metrics.push_back({"memory.rss_peak_bytes", *peak, "bytes", {}, {}});
}

// All cores' clocks as one sample set: mean and scatter.
void add_clock(const SeriesIndex& index, std::span<const Window> windows, trace::Metrics& metrics) {
  std::vector<double> means;
  double within = 0;
  for (const SampleSeries& series : index.of("cpu.clock_hz")) {
    const stats::Summary summary = stats::summarize(values_inside(series, windows));
    if (!summary.mean || *summary.mean <= 0) continue;
    means.push_back(*summary.mean);
    within += std::pow(summary.coefficient_of_variation.value_or(0), 2);
  }
  if (means.empty()) return;
  double sum = 0;
  for (const double mean : means) sum += mean;
  const double count = static_cast<double>(means.size());
  metrics.push_back({"cpu.clock_mean_hz", sum / count, "Hz", {}, {}});
  metrics.push_back({"cpu.clock_cov_ratio", std::sqrt(within / count), "ratio", {}, {}});
}

// "package-0" is a whole package; "package-0 core" lies inside it, and "psys" around it.
bool is_package(std::string_view entity) { return entity.starts_with("package") && entity.find(' ') == std::string_view::npos; }

// Energy of the CPU packages by their counters, every package together. A package that was not measured leaves no sum: a part is
// not the whole.
void add_energy(const SeriesIndex& index, const ObservedWork& work, trace::Metrics& metrics) {
  std::optional<Integral> sum;
  for (const SampleSeries& series : index.of("cpu.energy_joules")) {
    if (!is_package(series.entity)) continue;
    const auto energy = integrate_counter(series.samples, work.windows, 0);
    if (!energy) return;
    if (!sum) sum = Integral{0, 0, 1};
    sum->value += energy->value;
    sum->bound += energy->bound;
  }
  if (sum) add_energy_metrics("energy.cpu_", *sum, work, {}, metrics);
}

void add_peak_temperature(const SeriesIndex& index, std::span<const Window> windows, trace::Metrics& metrics) {
  std::optional<double> peak;
  for (const SampleSeries& series : index.of("cpu.temperature_celsius"))
    for (const double value : values_inside(series, windows)) peak = std::max(peak.value_or(value), value);
  if (peak) metrics.push_back({"cpu.temperature_peak_celsius", *peak, "celsius", {}, {}});
}

}  // namespace

trace::Metrics host_metrics(std::span<const trace::SystemEventRow> events, const trace::NameTable& names,
                            const ObservedWork& work) {
  SeriesIndex index;
  for (const trace::SystemEventRow& row : events)
    if (std::isfinite(row.value)) index.add(names.text(row.metric), names.text(row.entity), {row.time_ns, row.value});
  index.finish();
  trace::Metrics metrics;
  for (const HostRule& rule : kHostRules)
    if (const SampleSeries* series = index.find(rule.metric, rule.entity))
      add_reduced(rule.id, rule.unit, rule.reduction, *series, work, {}, metrics);
  add_peak_memory(index, metrics);
  add_clock(index, work.windows, metrics);
  add_peak_temperature(index, work.windows, metrics);
  add_energy(index, work, metrics);
  return metrics;
}

}  // namespace aaco::analytics::metrics
