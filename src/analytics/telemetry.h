#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/metric.h"
#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::analytics::metrics {

// A span of time on the session's home clock in which telemetry is evaluated.
struct Window {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  bool operator==(const Window&) const = default;
};

struct ObservedWork {
  std::vector<Window> windows;  // ascending, disjoint
  std::int64_t iterations = 0;  // in the windows; 0: unknown, no per-iteration values
};

// The blocks with telemetry, each from its first start to its last end; without such blocks those of phase "measure",
// else "step".
ObservedWork observed_work(std::span<const trace::IterationRow> iterations, const trace::NameTable& names);

// cpu.* process.* memory.* pressure.* and energy.* of the host: means, peaks and amounts per iteration over the windows.
trace::Metrics host_metrics(std::span<const trace::SystemEventRow> events, const trace::NameTable& names,
                            const ObservedWork& work);

// gpu.* and energy.* per device.
trace::Metrics gpu_metrics(std::span<const trace::GpuEventRow> events, const trace::NameTable& names, const ObservedWork& work);

// One reading of a quantity.
struct Sample {
  std::int64_t time_ns = 0;
  double value = 0;
};

struct Integral {
  double value = 0;          // unit of the samples times seconds
  double bound = 0;          // half width: sampling uncertainty plus sensor accuracy
  double covered_ratio = 0;  // share of the windows between sufficiently close samples
};

inline constexpr double kPowerSensorAccuracyRatio = 0.05;  // of boards' own sensors (Yang, Adamek, Armour, arXiv 2312.02741)
inline constexpr double kMinCoveredRatio = 0.5;            // below this coverage no integral is given

// The integral of a sampled quantity over the windows by the trapezoid rule; samples ascending in time. Between two samples the
// value is assumed to be between theirs, so the error of a step is at most half their difference times its length. A step longer
// than five typical ones is a pause; uncovered time gets the mean of the rest, with an error of a typical difference of
// neighbours. `accuracy_ratio` of the value is added to the bound. Empty with fewer than 2 samples, or less than
// kMinCoveredRatio covered.
std::optional<Integral> integrate(std::span<const Sample> samples, std::span<const Window> windows, double accuracy_ratio);

// The same for a monotonic counter (joules): its growth within the windows. Also empty if it decreases (a reset).
std::optional<Integral> integrate_counter(std::span<const Sample> readings, std::span<const Window> windows,
                                          double accuracy_ratio);

}  // namespace aaco::analytics::metrics
