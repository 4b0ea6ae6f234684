#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "core/units.h"
#include "trace/rows.h"

// Whether a machine is fit for measurements, and the smallest effect it can detect.
namespace aaco::analytics::noise {

// A calibrated workload, measured repeatedly in several consecutive processes of equal length.
struct LoopSeries {
  std::string id;                              // spin, memory
  std::vector<std::vector<double>> processes;  // durations of its calls in ns
};

struct StabilitySample {
  std::int64_t slice_ns = 0;  // length of a process
  std::vector<LoopSeries> loops;
  std::vector<trace::LoopBlockRow> slices;  // one per process: kernel counters; process_cpu_ns is that of the process
};

struct LoopStability {
  std::string id;
  double median_ns = 0;
  double within_ratio = 0;   // robust deviation of a process's calls over its median; median over the processes
  double between_ratio = 0;  // standard deviation of the processes' medians, as logs
  double range_ratio = 0;    // largest over smallest median, minus one
  // Smallest detectable effect by time per side: with one process per side, and with interleaved processes of the slice's
  // length.
  std::map<std::int64_t, double> one_process, interleaved;
};

struct StabilityLimit {
  std::string id, title;
  double limit = 0;
};
core::Result<std::vector<StabilityLimit>> load_stability_limits(const std::string& path);

struct StabilityVerdict {
  bool fit = false;
  std::vector<LoopStability> loops;
  std::map<std::string, double> values;  // by limit id, if measured
  std::vector<std::string> against;      // one sentence per exceeded limit
};

inline constexpr std::int64_t kStabilityFewestProcesses = 5;

// With s the deviation of equal processes' medians (logs), w and n the deviation and the effective number of calls of one
// process: the median of a side of time T has the variance s^2 / (T / slice) in interleaved processes, and in a single one b^2 +
// (pi / 2) w^2 / (n T / slice), where b^2 = max(0, s^2 - (pi / 2) w^2 / n) is what lies between processes. The smallest effect is
// (z(0.975) + z(0.8)) times the root of two such variances; exp(x) - 1 of it. invalid_input with fewer than five processes or a
// loop without calls.
core::Result<StabilityVerdict> judge_stability(const StabilitySample& sample, std::span<const StabilityLimit> limits);

core::Json to_json(const StabilityVerdict& verdict);

}  // namespace aaco::analytics::noise
