#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/subprocess.h"
#include "trace/metric.h"
#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::workflows {

// CPU time of a recorded program and all its children, as the kernel counted it; independent of how often it was sampled.
struct CpuTotal {
  double cpu_ns = 0;
  double system_ns = 0;  // of it, in the kernel
};
CpuTotal cpu_total(const core::ChildUsage& usage);
// Of a program that was not started here: the growth of process.cpu_time_seconds and process.system_time_seconds. Empty without
// two readings.
std::optional<CpuTotal> cpu_total(std::span<const trace::SystemEventRow> events, const trace::NameTable& names);

// Adds process.cpu_time_ns, process.system_ratio and process.cpu_unsampled_ratio. Where samples missed more than
// kMaxUnsampled of the CPU time, process.cpu_use_cores is of the total, without an interval. Where they saw more than the total
// (children that outlive the program), theirs counts.
void account_cpu(const CpuTotal& total, double wall_ns, trace::Metrics& metrics);

// Adds process.stopped_ratio and process.disk_sleep_ratio: the share of the readings in which a process was stopped, or in
// uninterruptible sleep.
void account_states(std::span<const trace::SystemEventRow> events, const trace::NameTable& names, trace::Metrics& metrics);

inline constexpr double kMaxUnsampled = 0.05;

}  // namespace aaco::workflows
