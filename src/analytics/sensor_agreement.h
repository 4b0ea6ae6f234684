#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/names.h"
#include "trace/rows.h"
#include "trace/session.h"

// Sensors fail silently: counters in another unit than documented, utilisation of 0 on a busy device, a value that never changes.
// Two sources of the same quantity of the same device can be compared with each other.
namespace aaco::analytics::trust {

// Two sources of one quantity of one GPU, compared over the time both cover.
struct SensorAgreement {
  std::int64_t device = 0;
  std::string metric;              // "gpu.power_watts"
  std::string source_a, source_b;  // "amdgpu.gpu_metrics", "amdgpu.hwmon"
  std::int64_t pairs = 0;          // readings of the sparser source with a close reading of the other
  double mean_a = 0, mean_b = 0;   // over those pairs
  double difference = 0;           // mean of a - b
  double standard_error = 0;       // of that mean
  double tolerance = 0;            // allowed difference, in the metric's unit
  // disagree: beyond the tolerance by more than the noise of the readings. undecided: too few pairs, or too much noise.
  enum class Verdict { agree, disagree, undecided } verdict = Verdict::undecided;
  bool operator==(const SensorAgreement&) const = default;
};

// Allowed difference of two correct sensors of a metric: the larger of a share of their mean and a floor.
struct Tolerance {
  std::string_view metric;
  double share = 0;
  double floor = 0;  // unit of the metric
};
// The compared metrics. Sensors of one quantity average over different times and round differently, so the
// tolerances are wide; they detect wrong units, dead sensors and swapped devices.
std::span<const Tolerance> tolerances();

inline constexpr std::int64_t kMinPairs = 10;
inline constexpr double kStandardErrors = 3;             // a difference must exceed the tolerance by this many
inline constexpr std::int64_t kNearestNs = 200'000'000;  // readings further apart than this are not a pair

// Every pair of sources of each metric in tolerances(), and each energy counter against each power sensor of its device (metric
// "gpu.energy_joules": mean W of both). Rows in any order; order of the result: device, metric, sources.
std::vector<SensorAgreement> compare_sensors(std::span<const trace::GpuEventRow> rows, const trace::NameTable& names);

// How far one sensor can be trusted, by the others that state the same quantity.
struct SensorTrust {
  std::int64_t device = 0;
  std::string metric, source;
  std::int64_t agreed = 0, disagreed = 0, undecided = 0;  // comparisons with another sensor
  // Mean over the decided comparisons of min(1, tolerance / |difference|), 0..1: 1 is within tolerance of every other sensor, 0.1
  // ten times beyond it. A disagreement does not say which of the two is wrong: both lose. Empty where none was decided.
  std::optional<double> score;
  bool operator==(const SensorTrust&) const = default;
};

// Every sensor that was compared with another; order: device, metric, source. An energy counter's comparisons with power sensors
// count for both.
std::vector<SensorTrust> sensor_trust(const std::vector<SensorAgreement>& agreements);

// For the head of a report: each disagreement, with what to do. Empty where there is none.
std::optional<trace::Warning> disagreement_warning(const std::vector<SensorAgreement>& agreements);

}  // namespace aaco::analytics::trust
