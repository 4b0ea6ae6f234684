#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace aaco::hardware {

// What sets the clock of one CPU; empty where the kernel does not say (virtual machines mostly do not).
struct CpuClock {
  std::int64_t cpu = 0;
  std::optional<std::string> driver;                             // acpi-cpufreq, amd-pstate-epp, intel_pstate
  std::optional<std::string> governor;                           // performance, powersave, schedutil ...
  std::optional<std::string> energy_preference;                  // performance, balance_power ...
  std::optional<std::int64_t> scaling_min_hz, scaling_max_hz;    // what policy allows
  std::optional<std::int64_t> hardware_min_hz, hardware_max_hz;  // what the hardware can do
  std::optional<std::int64_t> current_hz;                        // when it was read
  bool operator==(const CpuClock&) const = default;
};

struct CpuClockState {
  std::vector<CpuClock> cpus;  // in order of their numbers
  std::optional<bool> boost;   // clocks above the nominal one are allowed
  std::optional<bool> smt_active;
  std::optional<std::string> clock_source;  // of the kernel: tsc, hpet ...
  bool operator==(const CpuClockState&) const = default;
};

CpuClockState read_cpu_clock_state(const std::string& root);

// Whether the machine is set so that clocks do not distort a measurement.
struct PerformanceMode {
  enum class Verdict { yes, no, unknown } verdict = Verdict::unknown;
  std::vector<std::string> reasons;  // what speaks against it, or why it is unknown
  bool operator==(const PerformanceMode&) const = default;
};
// Yes: every CPU has the performance governor (or preference) and no policy limit below the hardware's. Boost is named, and
// decides nothing.
PerformanceMode check_performance_mode(const CpuClockState& state);

// The governors in use, joined by commas; empty where unknown.
std::string governors(const CpuClockState& state);

core::Json to_json(const CpuClockState& state);
core::Json to_json(const PerformanceMode& mode);

}  // namespace aaco::hardware
