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

// What a session says of itself in numbers that can be laid beside those of another: what classifiers and decompositions look at.
namespace aaco::analytics::signals {

// One thing that can be known of a session. Ratios are of the wall time of the measured calls unless said otherwise.
struct SignalDefinition {
  std::string_view id;
  std::string_view unit;
  std::string_view meaning;
};
// In a fixed order, which is that of a model's features. Signals are added at the end, never taken away.
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
  std::optional<double> allowed_cpus;  // that the session's process may use
  std::optional<double> cpu_limit;     // its quota, in CPUs
  // Median time of the model's own run in the profiled pass, without what the caller does around it.
  std::optional<double> profiled_model_ns;
};

// Values by position in definitions(); empty: not measured.
class Signals {
 public:
  Signals();
  [[nodiscard]] std::optional<double> get(std::string_view id) const;
  // Keeps a finite value; anything else stays not measured.
  void set(std::string_view id, std::optional<double> value);
  void forget(std::string_view id);
  [[nodiscard]] std::span<const std::optional<double>> values() const { return values_; }
  // As a model's features: not measured is NaN.
  [[nodiscard]] std::vector<float> features() const;
  bool operator==(const Signals&) const = default;

 private:
  std::vector<std::optional<double>> values_;
};

Signals signals_of(const SignalInput& input);

// The same session as it would look had its nodes not been profiled.
Signals without_profile(Signals signals);

// Time of a call as the kernel accounts for the thread that makes it: running, waiting for a CPU, blocked. ns a call, over the
// blocks without telemetry.
struct CallAccount {
  std::int64_t calls = 0;
  double wall_ns = 0;
  std::optional<double> cpu_ns, wait_ns, blocked_ns;              // of the caller; they add up to the whole
  std::optional<double> others_wait_ns;                           // of the process's other threads
  std::optional<double> process_cpu_ns, system_ns, throttled_ns;  // of all threads
  std::optional<double> minor_faults, major_faults, migrations, storage_bytes, voluntary_switches, involuntary_switches;
  std::optional<double> others_cpu_ns;  // of other processes
  std::optional<double> interrupts, steal_ns, iowait_ns;
};
// Empty without blocks.
std::optional<CallAccount> account_of(std::span<const trace::LoopBlockRow> blocks, const trace::NameTable& names);

}  // namespace aaco::analytics::signals
