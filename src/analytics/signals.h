#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/node_time.h"
#include "trace/metric.h"
#include "trace/names.h"
#include "trace/rows.h"

// Numeric signals of a session that are comparable between sessions: the input of classifiers and decompositions.
namespace aaco::analytics::signals {

// Definition of a signal. Ratios are relative to the wall time of the measured calls unless stated otherwise.
struct SignalDefinition {
  std::string_view id;
  std::string_view unit;
  std::string_view meaning;
};
// In a fixed order, that of a model's features. Signals are appended, never removed.
std::span<const SignalDefinition> definitions();

struct SignalInput {
  std::span<const trace::LoopBlockRow> blocks;
  const trace::NameTable* names = nullptr;  // of the rows
  std::span<const trace::GpuEventRow> gpu_events;
  const metrics::NodeTime* nodes = nullptr;
  trace::Metrics metrics;
  std::optional<double> flops, bytes;  // of a call
  std::optional<double> graph_nodes;   // of the model's file
  std::optional<double> cpus;          // of the machine
  std::optional<double> allowed_cpus;  // allowed for the session's process
  std::optional<double> cpu_limit;     // CPU quota, in CPUs
  // Median time of the model run in the profiled pass, excluding the caller's work around it.
  std::optional<double> profiled_model_ns;
};

// Values by position in definitions(); empty: not measured.
class Signals {
 public:
  Signals();
  [[nodiscard]] std::optional<double> get(std::string_view id) const;
  // Stores finite values; anything else stays unmeasured.
  void set(std::string_view id, std::optional<double> value);
  void forget(std::string_view id);
  [[nodiscard]] std::span<const std::optional<double>> values() const { return values_; }
  // As model features: NaN if not measured.
  [[nodiscard]] std::vector<float> features() const;
  bool operator==(const Signals&) const = default;

 private:
  std::vector<std::optional<double>> values_;
};

Signals signals_of(const SignalInput& input);

// The signals of the same session without its profiled pass.
Signals without_profile(Signals signals);

// Kernel accounting of the calling thread's time per call: running, waiting for a CPU, asleep. ns per call, over the
// blocks without telemetry.
struct CallAccount {
  std::int64_t calls = 0;
  double wall_ns = 0;
  // Of the caller, as counted: never reduced to fit. cpu, wait, blocked and unexplained add up to wall_ns. The kernel does not
  // count sleep: it is what CPU time and wait leave. Where they exceed the wall time (reading the counters takes time of the
  // caller outside the calls), sleep is 0 and unexplained_ns is negative.
  std::optional<double> cpu_ns, wait_ns, blocked_ns, unexplained_ns;
  std::optional<double> others_wait_ns;                           // of the process's other threads, summed: not a part of wall_ns
  std::optional<double> process_cpu_ns, system_ns, throttled_ns;  // of all threads
  std::optional<double> minor_faults, major_faults, migrations, storage_bytes, voluntary_switches, involuntary_switches;
  std::optional<double> others_cpu_ns;  // of other processes, on the CPUs that the run may use if known, otherwise on all
  std::optional<double>
      elsewhere_cpu_ns;  // of other processes on the CPUs that the run may not use: they share caches and memory
  std::optional<double> interrupts, steal_ns, iowait_ns, stops;
  std::optional<double> io_some_ns;          // while a task of the machine was stalled for I/O (kernel's PSI)
  std::optional<double> freezes, frozen_ns;  // of the control group; account_of() does not know them, count_freezes() adds them
};
// process.freezes_count and process.frozen_ns of the session, per call.
void count_freezes(const trace::Metrics& metrics, CallAccount& account);
// The mean of several sessions of one side: a member is known where all know it. Not empty.
CallAccount mean_account(std::span<const CallAccount> accounts);
Signals mean_signals(std::span<const Signals> sessions);
// Empty without blocks.
std::optional<CallAccount> account_of(std::span<const trace::LoopBlockRow> blocks, const trace::NameTable& names);

}  // namespace aaco::analytics::signals
