#include "analytics/signals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "core/check.h"

namespace aaco::analytics::signals {
namespace {

constexpr std::array kDefinitions = {
    SignalDefinition{"caller.cpu_ratio", "ratio", "share of the call during which its thread was running"},
    SignalDefinition{"caller.wait_ratio", "ratio", "share of the call during which its thread waited for a CPU"},
    SignalDefinition{"caller.blocked_ratio", "ratio", "share of the call during which its thread was asleep"},
    SignalDefinition{"process.cpu_use_cores", "cores", "CPUs kept busy by the process"},
    SignalDefinition{"process.others_wait_ratio", "ratio", "CPU wait of the process's other threads, summed"},
    SignalDefinition{"process.system_ratio", "ratio", "share of the process's CPU time spent in the kernel"},
    SignalDefinition{"faults.minor_per_second", "1/s", "page faults without I/O"},
    SignalDefinition{"faults.major_per_second", "1/s", "page faults with I/O"},
    SignalDefinition{"switches.voluntary_per_second", "1/s", "voluntary context switches"},
    SignalDefinition{"switches.involuntary_per_second", "1/s", "involuntary context switches"},
    SignalDefinition{"migrations_per_second", "1/s", "thread migrations between CPUs"},
    SignalDefinition{"storage.bytes_per_second", "bytes/s", "bytes read from and written to storage"},
    SignalDefinition{"cgroup.throttled_ratio", "ratio", "time throttled by the CPU quota, summed over CPUs"},
    SignalDefinition{"others.cpu_use_cores", "cores", "CPUs kept busy by other processes, of those that the run may use"},
    SignalDefinition{"machine.idle_cores", "cores", "idle CPUs"},
    SignalDefinition{"machine.steal_ratio", "ratio", "CPU time stolen by the hypervisor, all CPUs"},
    SignalDefinition{"machine.iowait_ratio", "ratio", "CPUs idle with I/O outstanding, all CPUs"},
    SignalDefinition{"machine.interrupts_per_second", "1/s", "interrupts"},
    SignalDefinition{"latency.p50_ns", "ns", "median latency"},
    SignalDefinition{"latency.cov_ratio", "ratio", "standard deviation of the latency over its mean"},
    SignalDefinition{"latency.tail_ratio", "ratio", "P90 over the median, minus 1"},
    SignalDefinition{"latency.drift_ratio", "ratio", "median of the last third over that of the first, minus 1"},
    SignalDefinition{"latency.autocorrelation_ratio", "ratio", "lag-1 autocorrelation of the iteration latency"},
    SignalDefinition{"node.remainder_ratio", "ratio", "share of the model's time outside its nodes"},
    SignalDefinition{"node.between_ratio", "ratio", "share of the model's time between its nodes"},
    SignalDefinition{"node.around_ratio", "ratio", "share of the model's time before its first and after its last node"},
    SignalDefinition{"node.mean_ns", "ns", "mean time per node"},
    SignalDefinition{"node.execution_count", "count", "nodes run per call"},
    SignalDefinition{"node.largest_ratio", "ratio", "share of time spent in the costliest operator type"},
    SignalDefinition{"host.around_ratio", "ratio", "time outside the model in a profiled call, relative to the call time"},
    SignalDefinition{"work.intensity", "flop/byte", "arithmetic operations per byte moved"},
    SignalDefinition{"work.flops_per_second", "flop/s", "arithmetic operations per second"},
    SignalDefinition{"work.bytes_per_second", "bytes/s", "bytes moved per second"},
    SignalDefinition{"profile.slowdown_ratio", "ratio", "slowdown of the profiled pass"},
    SignalDefinition{"cpu.clock_cov_ratio", "ratio", "coefficient of variation of the CPU clock"},
    SignalDefinition{"gpu.clock_cov_ratio", "ratio", "coefficient of variation of the GPU clock (worst GPU)"},
    SignalDefinition{"gpu.throttled_power_ratio", "ratio", "share of time a GPU was power-throttled"},
    SignalDefinition{"gpu.throttled_thermal_ratio", "ratio", "share of time a GPU was thermally throttled"},
    SignalDefinition{"gpu.ecc_correctable_count", "count", "corrected GPU memory errors"},
    SignalDefinition{"gpu.ecc_uncorrectable_count", "count", "uncorrected GPU memory errors"},
    SignalDefinition{"gpu.pcie_replays_count", "count", "PCIe packets replayed by GPUs"},
    SignalDefinition{"process.allowed_cores", "cores", "CPUs the process is allowed to use"},
    SignalDefinition{"process.allowed_use_ratio", "ratio", "utilisation of the CPUs the process is allowed to use"},
    SignalDefinition{"process.wait_cores", "cores", "mean number of threads of the process waiting for a CPU"},
    SignalDefinition{"cgroup.limit_use_ratio", "ratio", "share of the CPU quota used"},
    SignalDefinition{"cgroup.throttled_wait_ratio", "ratio", "share of the CPU wait caused by the CPU quota"},
    SignalDefinition{"faults.minor_per_call", "count", "page faults without I/O per call"},
    SignalDefinition{"switches.voluntary_per_call", "count", "voluntary context switches per call"},
    SignalDefinition{"storage.bytes_per_call", "bytes", "bytes read from and written to storage per call"},
    SignalDefinition{"work.ns_per_node", "ns", "call time per node of the model file"},
    SignalDefinition{"others.wait_ratio", "ratio",
                     "share of the process's CPU wait that the CPU time of other processes can explain"},
};

// Known of sessions with a profiled pass only.
constexpr std::array<std::string_view, 8> kOfProfile = {"node.remainder_ratio", "node.between_ratio",    "node.around_ratio",
                                                        "node.mean_ns",         "node.execution_count",  "node.largest_ratio",
                                                        "host.around_ratio",    "profile.slowdown_ratio"};

std::optional<double> over(std::optional<double> value, double by) {
  return value && by > 0 ? std::optional(*value / by) : std::nullopt;
}

std::optional<double> metric(const trace::Metrics& metrics, std::string_view id) {
  const auto* found = find_metric(metrics, id);
  return found != nullptr ? std::optional(found->value) : std::nullopt;
}

// Who is to blame for waits: a process that waits though it has all the CPUs that it may use waits for itself.
void add_waits(const CallAccount& call, const SignalInput& input, Signals& out) {
  out.set("process.allowed_cores", input.allowed_cpus);
  if (input.allowed_cpus) out.set("process.allowed_use_ratio", over(call.process_cpu_ns, call.wall_ns * *input.allowed_cpus));
  if (input.cpu_limit) out.set("cgroup.limit_use_ratio", over(call.process_cpu_ns, call.wall_ns * *input.cpu_limit));
  if (!call.wait_ns || !call.others_wait_ns) return;
  const double wait = *call.wait_ns + *call.others_wait_ns;
  out.set("process.wait_cores", over(wait, call.wall_ns));
  // While others use one CPU, at most one thread waits because of them: what waits beyond that waits for its own process.
  if (call.others_cpu_ns && wait > 0) out.set("others.wait_ratio", std::min(1.0, *call.others_cpu_ns / wait));
  if (call.throttled_ns) out.set("cgroup.throttled_wait_ratio", wait > 0 ? std::min(1.0, *call.throttled_ns / wait) : 0);
}

void add_account(const CallAccount& call, std::optional<double> cpus, Signals& out) {
  const double wall = call.wall_ns, second = call.wall_ns / 1e9;
  out.set("caller.cpu_ratio", over(call.cpu_ns, wall));
  out.set("caller.wait_ratio", over(call.wait_ns, wall));
  out.set("caller.blocked_ratio", over(call.blocked_ns, wall));
  out.set("process.cpu_use_cores", over(call.process_cpu_ns, wall));
  out.set("process.others_wait_ratio", over(call.others_wait_ns, wall));
  if (call.process_cpu_ns) out.set("process.system_ratio", over(call.system_ns, *call.process_cpu_ns));
  out.set("faults.minor_per_second", over(call.minor_faults, second));
  out.set("faults.major_per_second", over(call.major_faults, second));
  out.set("switches.voluntary_per_second", over(call.voluntary_switches, second));
  out.set("switches.involuntary_per_second", over(call.involuntary_switches, second));
  out.set("migrations_per_second", over(call.migrations, second));
  out.set("storage.bytes_per_second", over(call.storage_bytes, second));
  out.set("cgroup.throttled_ratio", over(call.throttled_ns, wall));
  out.set("others.cpu_use_cores", over(call.others_cpu_ns, wall));
  if (cpus && call.others_cpu_ns && call.process_cpu_ns)
    out.set("machine.idle_cores",
            std::max(0.0, *cpus - (*call.others_cpu_ns + call.elsewhere_cpu_ns.value_or(0) + *call.process_cpu_ns) / wall));
  out.set("machine.steal_ratio", over(call.steal_ns, wall));
  out.set("machine.iowait_ratio", over(call.iowait_ns, wall));
  out.set("machine.interrupts_per_second", over(call.interrupts, second));
  out.set("faults.minor_per_call", call.minor_faults);
  out.set("switches.voluntary_per_call", call.voluntary_switches);
  out.set("storage.bytes_per_call", call.storage_bytes);
}

void add_nodes(const metrics::NodeTime& nodes, Signals& out) {
  if (!nodes.parts || nodes.parts->whole.mean_ns <= 0) return;
  const metrics::IterationParts& parts = *nodes.parts;
  const double whole = parts.whole.mean_ns;
  out.set("node.remainder_ratio", 1 - parts.in_nodes.mean_ns / whole);
  out.set("node.between_ratio", parts.between_nodes.mean_ns / whole);
  out.set("node.around_ratio", parts.around_nodes.mean_ns / whole);
  double executions = 0, largest = 0;
  for (const metrics::NodeShare& one : nodes.operators) {
    executions += one.executions;
    largest = std::max(largest, one.share_ratio);
  }
  out.set("node.execution_count", executions);
  if (executions > 0) out.set("node.mean_ns", parts.in_nodes.mean_ns / executions);
  out.set("node.largest_ratio", largest);
}

// The profiler makes the model slower, not what its caller does around it.
void add_around(const SignalInput& input, Signals& out) {
  const auto median = metric(input.metrics, "latency.p50_ns"), slower = metric(input.metrics, "profile.slowdown_ratio");
  if (!median || !slower || !input.profiled_model_ns || *median <= 0) return;
  const double around = *median * (1 + *slower) - *input.profiled_model_ns;
  out.set("host.around_ratio", std::clamp(around / *median, 0.0, 1.0));
}

// The device that has most of it.
std::optional<double> largest(const trace::Metrics& metrics, std::string_view id) {
  std::optional<double> most;
  for (const auto& one : metrics)
    if (one.id == id) most = std::max(most.value_or(one.value), one.value);
  return most;
}

// Counters of health only grow; what they grew by while they were watched is the session's.
void add_health(const SignalInput& input, Signals& out) {
  for (const std::string_view id : {"gpu.clock_cov_ratio", "gpu.throttled_power_ratio", "gpu.throttled_thermal_ratio"})
    out.set(id, largest(input.metrics, id));
  if (input.names == nullptr) return;
  for (const std::string_view id : {"gpu.ecc_correctable_count", "gpu.ecc_uncorrectable_count", "gpu.pcie_replays_count"}) {
    std::map<std::pair<std::int32_t, std::int64_t>, std::pair<double, double>> ends;  // by rank and device: least, most
    for (const auto& row : input.gpu_events)
      if (input.names->text(row.metric) == id) {
        const auto [place, fresh] = ends.try_emplace({row.rank, row.device}, row.value, row.value);
        place->second.first = std::min(place->second.first, row.value);
        place->second.second = std::max(place->second.second, row.value);
      }
    if (ends.empty()) continue;
    double grown = 0;
    for (const auto& [device, range] : ends) grown += range.second - range.first;
    out.set(id, grown);
  }
}

std::size_t position(std::string_view id) {
  const auto found = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& one) { return one.id == id; });
  AACO_CHECK(found != kDefinitions.end());
  return static_cast<std::size_t>(found - kDefinitions.begin());
}

}  // namespace

std::span<const SignalDefinition> definitions() { return kDefinitions; }

Signals::Signals() : values_(kDefinitions.size()) {}

std::optional<double> Signals::get(std::string_view id) const { return values_[position(id)]; }

void Signals::set(std::string_view id, std::optional<double> value) {
  if (value && std::isfinite(*value)) values_[position(id)] = value;
}

void Signals::forget(std::string_view id) { values_[position(id)].reset(); }

std::vector<float> Signals::features() const {
  std::vector<float> out;
  for (const auto& value : values_) out.push_back(value ? static_cast<float>(*value) : std::numeric_limits<float>::quiet_NaN());
  return out;
}

Signals mean_signals(std::span<const Signals> sessions) {
  Signals mean;
  for (const SignalDefinition& definition : definitions()) {
    double sum = 0;
    std::size_t known = 0;
    for (const Signals& one : sessions)
      if (const auto value = one.get(definition.id)) {
        sum += *value;
        ++known;
      }
    if (known == sessions.size()) mean.set(definition.id, sum / static_cast<double>(known));
  }
  return mean;
}

Signals signals_of(const SignalInput& input) {
  Signals out;
  if (input.names != nullptr)
    if (const auto account = account_of(input.blocks, *input.names)) {
      add_account(*account, input.cpus, out);
      add_waits(*account, input, out);
    }
  const auto median = metric(input.metrics, "latency.p50_ns");
  out.set("latency.p50_ns", median);
  out.set("latency.cov_ratio", metric(input.metrics, "latency.cov_ratio"));
  if (const auto p90 = metric(input.metrics, "latency.p90_ns"); p90 && median && *median > 0)
    out.set("latency.tail_ratio", *p90 / *median - 1);
  out.set("latency.drift_ratio", metric(input.metrics, "latency.drift_ratio"));
  out.set("latency.autocorrelation_ratio", metric(input.metrics, "latency.autocorrelation_ratio"));
  if (input.nodes != nullptr) add_nodes(*input.nodes, out);
  add_around(input, out);
  if (input.flops && input.bytes && *input.bytes > 0) out.set("work.intensity", *input.flops / *input.bytes);
  if (median && *median > 0) {
    out.set("work.flops_per_second", over(input.flops, *median / 1e9));
    out.set("work.bytes_per_second", over(input.bytes, *median / 1e9));
    if (input.graph_nodes) out.set("work.ns_per_node", over(median, *input.graph_nodes));
  }
  out.set("profile.slowdown_ratio", metric(input.metrics, "profile.slowdown_ratio"));
  out.set("cpu.clock_cov_ratio", metric(input.metrics, "cpu.clock_cov_ratio"));
  add_health(input, out);
  return out;
}

Signals without_profile(Signals signals) {
  for (const std::string_view id : kOfProfile) signals.forget(id);
  return signals;
}

}  // namespace aaco::analytics::signals
