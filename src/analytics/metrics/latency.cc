#include "analytics/latency.h"

#include <algorithm>
#include <string_view>

#include "stats/robust.h"

namespace aaco::analytics::metrics {
namespace {

using trace::IterationRow;
using trace::Metrics;

std::vector<const IterationRow*> of_phase(std::span<const IterationRow> iterations, const trace::NameTable& names,
                                          std::string_view phase) {
  std::vector<const IterationRow*> rows;
  for (const IterationRow& row : iterations)
    if (names.text(row.phase) == phase) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const IterationRow* a, const IterationRow* b) {
    return a->rank != b->rank ? a->rank < b->rank : a->start_ns < b->start_ns;
  });
  return rows;
}

std::optional<trace::Interval> published(const std::optional<stats::Interval>& interval) {
  if (!interval) return std::nullopt;
  return trace::Interval{interval->low, interval->high};
}

void add(Metrics& metrics, std::string id, const std::optional<double>& value, std::string unit,
         const std::optional<stats::Interval>& ci95 = {}) {
  if (value) metrics.push_back({std::move(id), *value, std::move(unit), published(ci95), {}});
}

void add_count(Metrics& metrics, std::string id, std::int64_t value) {
  add(metrics, std::move(id), static_cast<double>(value), "count");
}

void add_quantile(Metrics& metrics, std::string id, const std::optional<stats::Quantile>& quantile) {
  if (quantile) add(metrics, std::move(id), quantile->value, "ns", quantile->ci95);
}

// Of times, which are not below zero: of a few that scatter widely Student's interval would be.
std::optional<stats::Interval> interval_of_times(std::optional<stats::Interval> interval) {
  if (interval) interval->low = std::max(interval->low, 0.0);
  return interval;
}

void add_latency(Metrics& metrics, const stats::Summary& summary) {
  add_count(metrics, "latency.count", summary.count);
  add(metrics, "latency.mean_ns", summary.mean, "ns", interval_of_times(summary.mean_ci95));
  add(metrics, "latency.std_ns", summary.standard_deviation, "ns");
  add(metrics, "latency.cov_ratio", summary.coefficient_of_variation, "ratio");
  add(metrics, "latency.min_ns", summary.minimum, "ns");
  add(metrics, "latency.max_ns", summary.maximum, "ns");
  add_quantile(metrics, "latency.p50_ns", summary.p50);
  add_quantile(metrics, "latency.p90_ns", summary.p90);
  add_quantile(metrics, "latency.p95_ns", summary.p95);
  add_quantile(metrics, "latency.p99_ns", summary.p99);
  add_quantile(metrics, "latency.p999_ns", summary.p999);
  add(metrics, "latency.iqr_ns", summary.iqr, "ns");
  if (summary.outliers_high) add_count(metrics, "latency.outlier_count", *summary.outliers_high + *summary.outliers_low);
  add(metrics, "latency.autocorrelation_ratio", summary.autocorrelation_lag1, "ratio");
  add(metrics, "latency.effective_count", summary.effective_count, "count");
  add(metrics, "latency.drift_ratio", summary.drift_ratio, "ratio");
}

void add_throughput(Metrics& metrics, const stats::Summary& summary, std::int64_t items) {
  if (!summary.mean || *summary.mean <= 0 || items <= 0) return;
  const double scale = static_cast<double>(items) * 1e9;
  std::optional<stats::Interval> interval;
  if (summary.mean_ci95 && summary.mean_ci95->low > 0)
    interval = stats::Interval{scale / summary.mean_ci95->high, scale / summary.mean_ci95->low};
  add(metrics, "throughput.items_per_second", scale / *summary.mean, "1/s", interval);
}

void add_warmup(Metrics& metrics, std::span<const IterationRow* const> rows) {
  add_count(metrics, "warmup.iterations", static_cast<std::int64_t>(rows.size()));
  if (rows.empty()) return;
  const auto end = [](const IterationRow* row) { return row->start_ns + row->duration_ns; };
  std::int64_t first = rows[0]->start_ns, last = end(rows[0]);
  for (const IterationRow* row : rows) {
    first = std::min(first, row->start_ns);
    last = std::max(last, end(row));
  }
  add(metrics, "warmup.duration_ns", static_cast<double>(last - first), "ns");
}

// The blocks of both kinds of one rank, in the order they ran.
std::vector<stats::ObservedBlock> blocks_of(std::span<const IterationRow> iterations, const trace::NameTable& names,
                                            std::int32_t rank) {
  std::vector<const IterationRow*> rows = of_phase(iterations, names, "measure");
  const std::vector<const IterationRow*> observed = of_phase(iterations, names, "measure_telemetry");
  rows.insert(rows.end(), observed.begin(), observed.end());
  std::erase_if(rows, [&](const IterationRow* row) { return row->rank != rank; });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const IterationRow* a, const IterationRow* b) { return a->start_ns < b->start_ns; });
  std::vector<stats::ObservedBlock> blocks;
  const IterationRow* previous = nullptr;
  for (const IterationRow* row : rows) {
    if (previous == nullptr || previous->block != row->block || previous->phase != row->phase)
      blocks.push_back({names.text(row->phase) == "measure_telemetry", {}});
    blocks.back().durations.push_back(static_cast<double>(row->duration_ns));
    previous = row;
  }
  return blocks;
}

std::vector<std::int32_t> ranks_of(std::span<const IterationRow> iterations) {
  std::vector<std::int32_t> ranks;
  for (const IterationRow& row : iterations)
    if (std::find(ranks.begin(), ranks.end(), row.rank) == ranks.end()) ranks.push_back(row.rank);
  return ranks;
}

std::optional<stats::ObserverEffect> observed_effect(std::span<const IterationRow> iterations, const trace::NameTable& names) {
  std::vector<stats::ObservedBlock> blocks;
  for (const std::int32_t rank : ranks_of(iterations)) {
    std::vector<stats::ObservedBlock> own = blocks_of(iterations, names, rank);
    std::move(own.begin(), own.end(), std::back_inserter(blocks));
  }
  const bool any =
      std::any_of(blocks.begin(), blocks.end(), [](const stats::ObservedBlock& block) { return block.with_instrument; });
  return any ? std::optional(stats::observer_effect(blocks)) : std::nullopt;
}

}  // namespace

std::vector<double> durations_of(std::span<const IterationRow> iterations, const trace::NameTable& names,
                                 std::string_view phase) {
  std::vector<double> durations;
  for (const IterationRow* row : of_phase(iterations, names, phase)) durations.push_back(static_cast<double>(row->duration_ns));
  return durations;
}

LatencyMetrics latency_metrics(std::span<const IterationRow> iterations, const trace::NameTable& names,
                               std::int64_t items_per_iteration) {
  LatencyMetrics result;
  std::vector<double> measured = durations_of(iterations, names, "measure");
  if (!measured.empty()) {
    result.measured_phase = "measure";
    add_warmup(result.metrics, of_phase(iterations, names, "warmup"));
  } else {
    for (const char* phase : {"device_step", "step"}) {
      measured = durations_of(iterations, names, phase);
      result.measured_phase = phase;
      if (!measured.empty()) break;
    }
    if (measured.empty()) return LatencyMetrics{};
  }
  result.measured = stats::summarize(measured);
  add_latency(result.metrics, result.measured);
  add_throughput(result.metrics, result.measured, items_per_iteration);
  const std::vector<double> profiled = durations_of(iterations, names, "profile");
  if (const double plain = stats::median(measured); !profiled.empty() && plain > 0)
    add(result.metrics, "profile.slowdown_ratio", stats::median(profiled) / plain - 1, "ratio");
  result.observer = observed_effect(iterations, names);
  if (result.observer)
    add(result.metrics, "observer.effect_ratio", result.observer->effect_ratio, "ratio", result.observer->ci95);
  return result;
}

Metrics phase_metrics(std::span<const trace::Phase> phases) {
  Metrics metrics;
  for (const trace::Phase& phase : phases)
    if (phase.name == "load" && phase.end_ns >= phase.start_ns)
      add(metrics, "load.duration_ns", static_cast<double>(phase.end_ns - phase.start_ns), "ns");
  return metrics;
}

}  // namespace aaco::analytics::metrics
