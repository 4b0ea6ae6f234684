#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analytics/kernel_work.h"
#include "hardware/device.h"
#include "trace/names.h"
#include "trace/rows.h"

// What limits each kernel of a trace. Only counters and shapes decide; a kernel of which neither is known has no known limit.
namespace aaco::analytics::roofline {

enum class KernelBound : std::uint8_t { compute, memory, communication, unknown };
std::string_view to_string(KernelBound bound);

// What a limit rests on. Each has its own confidence (data/rules/confidence.yaml, "kernel.NAME").
enum class LimitEvidence : std::uint8_t {
  counters_near,   // counted work or traffic reaches kNearRoof of a roof
  counters_below,  // at least kFarFromRoof
  shapes_near,     // the same, from operator shapes
  shapes_below,
  traffic,        // only traffic was counted and it reaches kTrafficDecides of the bandwidth, or work and the peak
  traffic_only,   // traffic was counted, the device is unknown
  collective,     // by the kernel's name
  far_from_both,  // the rest name no limit: less than kFarFromRoof of both roofs
  one_side,       // only work or only traffic is known, and far from its roof
  no_work,        // neither shapes nor counters
  no_time,        // no duration
  no_device,      // no roofs
};
std::string_view to_string(LimitEvidence evidence);

// Our own judgement, from kernels whose limit is known from their source (docs/formats/corpus.md). A kernel that reaches less of
// both roofs waits for latency, has too few waves, or does work that nobody counted: neither roof limits it.
inline constexpr double kNearRoof = 0.5, kFarFromRoof = 0.4, kTrafficDecides = 0.4;
// Of the peak rate, which products of matrices hardly reach three quarters of: a lower part names it.
inline constexpr double kFarFromPeak = 0.25;
inline constexpr double kTrafficOnlyBytesPerS = 500e9;   // no cache-resident or compute-bound kernel of this size is known to us
inline constexpr double kTrafficOnlyFlopsPerByte = 100;  // below the ridge of every data-centre GPU in data/hardware
// Executions that take this many times as long as the others on average are outliers and left out of the limit.
inline constexpr double kOutlierTimes = 10;
// Part of a kernel's time that must have known work for its limit to be known.
inline constexpr double kKnownPart = 0.5;

struct KernelLimit {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  trace::NameId kernel, family;
  KernelBound bound = KernelBound::unknown;
  LimitEvidence evidence = LimitEvidence::no_work;
  std::string text;       // the evidence in words, with its numbers
  std::string work_from;  // "shapes", or the counters; empty: unknown
  std::int64_t count = 0;
  std::optional<double> flops, bytes;                 // of the executions with known work, also on an unknown device
  double time_ns = 0;                                 // of all executions
  std::optional<double> flops_per_s, bytes_per_s;     // over the executions with known work, without outliers
  std::optional<double> compute_ratio, memory_ratio;  // of the device's peak and bandwidth
  std::optional<double> outlier_ns;                   // an execution that took kOutlierTimes as long as the others
};

// Shapes and counters of kernels; all of one device. Counters of both work and traffic decide before shapes, these before
// counters of one side.
struct KnownWork {
  std::vector<GroupWork> shapes;    // products and row-wise operators
  std::vector<GroupWork> counters;  // CounterWork::counted()
};

// One limit per row of `kernels` on that device, in their order. `device` may be null: unknown.
std::vector<KernelLimit> kernel_limits(std::span<const trace::KernelGroupRow> kernels, const KnownWork& work,
                                       const trace::NameTable& names, const hardware::Device* device);

// Kernel time by limit.
struct LimitTimes {
  double compute_ns = 0, memory_ns = 0, unknown_ns = 0;  // collectives are in none
  double far_ns = 0;                                     // of unknown_ns: far from both roofs
  [[nodiscard]] double sum() const { return compute_ns + memory_ns + unknown_ns; }
  bool operator==(const LimitTimes&) const = default;
};
LimitTimes limit_times(std::span<const KernelLimit> limits);

}  // namespace aaco::analytics::roofline
