#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analytics/metrics/series.h"
#include "analytics/telemetry.h"
#include "trace/metric.h"

namespace aaco::analytics::metrics {

enum class Reduction {
  mean,  // with its interval by effective sample size
  minimum,
  maximum,
  variation,       // standard deviation / mean
  rate_to_amount,  // a rate per second times the windows' length over their iterations: the amount of one iteration
};

// Adds the reduced value of the samples inside the windows; nothing where there is none.
void add_reduced(std::string_view id, std::string_view unit, Reduction reduction, const SampleSeries& series,
                 const ObservedWork& work, std::optional<std::int64_t> device, trace::Metrics& metrics);

// Adds <prefix>joules, and <prefix>per_iteration_joules where iterations are known. The bound becomes the interval.
void add_energy_metrics(std::string_view prefix, const Integral& energy, const ObservedWork& work,
                        std::optional<std::int64_t> device, trace::Metrics& metrics);

}  // namespace aaco::analytics::metrics
