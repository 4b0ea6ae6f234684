#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/kernel_work.h"
#include "hardware/device.h"

// The rates that kernels and operators of a trace reached, where their work is known.
namespace aaco::analytics::roofline {

enum class RateSubject : std::uint8_t { kernel, operation };
std::string_view to_string(RateSubject subject);

// FLOP/s and bytes/s of one kernel, or of one operator, in one data type by one source.
struct WorkRate {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  RateSubject subject = RateSubject::kernel;
  trace::NameId name;
  fingerprint::Family family = fingerprint::Family::other;
  std::string dtype;       // as data/hardware names it; empty: unknown
  std::string source;      // "shapes", or the counters
  std::int64_t count = 0;  // executions or calls with known work
  double time_ns = 0;      // of these
  std::optional<double> flops, bytes, flops_per_s, bytes_per_s;
  std::optional<double> peak_flops_per_s, peak_bytes_per_s;  // the stated figures of the device
  std::optional<double> flops_ratio, bytes_ratio;            // of the peaks
};

// The data type that products of float32 are computed in: TF32 where the kernel's name says so, or where they are faster than
// float32 can be on the device. Other types as they are.
std::string computed_in(const GroupWork& work, std::string_view kernel, const hardware::Device* device);

// Of one device, the longest time first. A kernel with shapes and counters has a rate by each: they are never added up. `device`
// may be null: unknown, and the rates have no ratios. Work without a duration has no rate and is left out. Products of float32
// run in TF32 where the kernel's name says so, or where they are faster than float32 can be on the device.
std::vector<WorkRate> kernel_rates(std::span<const GroupWork> works, const trace::NameTable& names,
                                   const hardware::Device* device);
// From shapes; sites of one operator and data type are added up.
std::vector<WorkRate> operator_rates(std::span<const SiteGroup> sites, const hardware::Device* device);

}  // namespace aaco::analytics::roofline
