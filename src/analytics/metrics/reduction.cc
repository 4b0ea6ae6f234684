#include "analytics/metrics/reduction.h"

#include <algorithm>
#include <string>

namespace aaco::analytics::metrics {
namespace {

double seconds_of(std::span<const Window> windows) {
  double sum = 0;
  for (const Window& window : windows) sum += static_cast<double>(window.end_ns - window.start_ns) * 1e-9;
  return sum;
}

struct Reduced {
  std::optional<double> value;
  std::optional<stats::Interval> ci95;
};

Reduced reduce(const stats::Summary& summary, Reduction reduction, const ObservedWork& work) {
  switch (reduction) {
    case Reduction::mean: return {summary.mean, summary.mean_ci95};
    case Reduction::minimum: return {summary.minimum, {}};
    case Reduction::maximum: return {summary.maximum, {}};
    case Reduction::variation: return {summary.coefficient_of_variation, {}};
    case Reduction::rate_to_amount: break;
  }
  if (work.iterations <= 0 || !summary.mean) return {};
  const double factor = seconds_of(work.windows) / static_cast<double>(work.iterations);
  Reduced reduced{*summary.mean * factor, {}};
  if (summary.mean_ci95) reduced.ci95 = stats::Interval{summary.mean_ci95->low * factor, summary.mean_ci95->high * factor};
  return reduced;
}

// A few samples have an interval that reaches where no value can be: a power below 0 W, a use above 100 %.
trace::Interval possible(trace::Interval interval, const stats::Summary& summary, std::string_view unit) {
  if (unit != "celsius" && summary.minimum.value_or(-1) >= 0) interval.low = std::max(interval.low, 0.0);
  if (unit == "ratio" && summary.maximum.value_or(2) <= 1) interval.high = std::min(interval.high, 1.0);
  return interval;
}

}  // namespace

void add_reduced(std::string_view id, std::string_view unit, Reduction reduction, const SampleSeries& series,
                 const ObservedWork& work, std::optional<std::int64_t> device, trace::Metrics& metrics) {
  const stats::Summary summary = stats::summarize(values_inside(series, work.windows));
  const Reduced reduced = reduce(summary, reduction, work);
  if (!reduced.value) return;
  std::optional<trace::Interval> interval;
  if (reduced.ci95) interval = possible({reduced.ci95->low, reduced.ci95->high}, summary, unit);
  metrics.push_back({std::string(id), *reduced.value, std::string(unit), interval, device});
}

void add_energy_metrics(std::string_view prefix, const Integral& energy, const ObservedWork& work,
                        std::optional<std::int64_t> device, trace::Metrics& metrics) {
  const auto scaled = [&](std::string_view name, double factor) {
    metrics.push_back({std::string(prefix) + std::string(name), energy.value * factor, "J",
                       trace::Interval{(energy.value - energy.bound) * factor, (energy.value + energy.bound) * factor}, device});
  };
  scaled("joules", 1);
  if (work.iterations > 0) scaled("per_iteration_joules", 1 / static_cast<double>(work.iterations));
}

}  // namespace aaco::analytics::metrics
