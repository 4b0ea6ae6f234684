#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/cpu_set.h"
#include "core/strings.h"
#include "hardware/inventory/read.h"
#include "hardware/probe.h"

namespace aaco::hardware {
namespace {

constexpr double kGibibyte = 1024.0 * 1024 * 1024;
constexpr const char* kKernel = "kernel";
constexpr const char* kMeasured = kMeasuredSource;
constexpr const char* kMeasuredRead = "measured_read";

std::string vendor_of(const CpuInfo& cpu) {
  const std::string name = core::to_lower(cpu.vendor + " " + cpu.model);
  for (const char* known : {"intel", "amd", "arm", "ampere", "apple"})
    if (name.find(known) != std::string::npos) return known;
  return name.starts_with("0x41") ? "arm" : "unknown";
}

// "Intel(R) Xeon(R) Platinum 8280 CPU @ 2.70GHz" -> {"xeon", "platinum", "8280"}.
std::vector<std::string> words_of_model(const CpuInfo& cpu) {
  static const std::set<std::string> kNoise{"cpu", "r", "tm", "processor", "core", "with", "intel", "amd"};
  std::string plain;
  for (const char letter : core::to_lower(cpu.model.substr(0, cpu.model.find('@'))))
    plain += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : ' ';
  std::vector<std::string> words;
  for (const std::string_view word : core::split_words(plain))
    if (!kNoise.contains(std::string(word))) words.emplace_back(word);
  return words;
}

double gibibytes(const Inventory& machine) {
  return std::ceil(static_cast<double>(machine.memory.total_bytes.value_or(0)) / kGibibyte);
}

Figure from_kernel(double value) { return {value, kKernel, {}}; }
Figure measured(double value) { return {value, kMeasured, {}}; }

Engine engine_of(const ProbeMeasurements& probe, double cores) {
  Engine engine;
  engine.name = "cores";
  engine.units = from_kernel(cores);
  if (probe.clock_hz) engine.clock_hz = measured(*probe.clock_hz);
  for (const ProbeReading& reading : probe.operations) {
    EngineRate rate;
    rate.dtype = reading.what;
    const ProbeReading* wider = faster_wider_type(probe, reading);
    rate.peak_ops_per_s = measured((wider != nullptr ? *wider : reading).per_second);
    rate.source = rate.peak_ops_per_s->source;
    if (engine.clock_hz) rate.ops_per_clock = rate.peak_ops_per_s->value / cores / *probe.clock_hz;
    engine.rates.push_back(std::move(rate));
  }
  return engine;
}

Scope scope_of(std::int64_t sharers, std::int64_t threads_per_core, std::int64_t logical, std::int64_t sockets) {
  if (sharers <= threads_per_core) return Scope::unit;
  if (sharers >= logical) return Scope::device;
  return sharers * sockets >= logical ? Scope::die : Scope::cluster;
}

struct Topology {
  std::int64_t logical = 1, cores = 1, sockets = 1;
  [[nodiscard]] std::int64_t threads_per_core() const { return std::max<std::int64_t>(1, logical / cores); }
};

Topology topology_of(const CpuInfo& cpu) {
  Topology topology;
  topology.logical = std::max<std::int64_t>(1, cpu.logical_cpus.value_or(1));
  topology.cores = std::clamp<std::int64_t>(cpu.physical_cores.value_or(topology.logical), 1, topology.logical);
  topology.sockets = std::max<std::int64_t>(1, cpu.sockets.value_or(1));
  return topology;
}

void add_levels(const Inventory& machine, const ProbeMeasurements& probe, Device& device) {
  const Topology topology = topology_of(machine.cpu);
  for (const CpuCache& cache : machine.cpu.caches) {
    if (cache.type == "Instruction") continue;
    const auto listed = static_cast<std::int64_t>(core::parse_cpu_list(cache.shared_cpus).size());
    const std::int64_t sharers = std::clamp<std::int64_t>(listed, 1, topology.logical);
    MemoryLevel level;
    level.name = "l" + std::to_string(cache.level);
    level.scope = scope_of(sharers, topology.threads_per_core(), topology.logical, topology.sockets);
    level.instances = topology.logical / sharers;
    level.bytes = from_kernel(static_cast<double>(cache.size_bytes));
    for (const ProbeReading& reading : probe.caches)
      if (reading.what == level.name) {
        if (device.memory.bytes_per_s && reading.per_second < device.memory.bytes_per_s->value)
          device.notes.push_back(fmt::format("{} read {:.1f} GB/s, no faster than main memory: its bandwidth is omitted.",
                                             level.name, reading.per_second / 1e9));
        else
          level.bytes_per_s = measured(reading.per_second);
      }
    device.memory_levels.push_back(std::move(level));
  }
}

// What an entry of a disturbed measurement says: a vector holds at least as many elements of a narrower type.
void note_slow_types(const ProbeMeasurements& probe, Device& device) {
  for (const ProbeReading& reading : probe.operations)
    if (const ProbeReading* wider = faster_wider_type(probe, reading))
      device.notes.push_back(
          fmt::format("{} read {:.1f} Gop/s, slower than {}, probably because of other work: the figure of {} is given for both, "
                      "the least that it can be. Probe again on an idle machine.",
                      reading.what, reading.per_second / 1e9, wider->what, wider->what));
}

constexpr double kSteadySpread = 0.25;

double widest_spread(const ProbeMeasurements& probe) {
  double widest = 0;
  for (const ProbeReading& reading : probe.operations) widest = std::max(widest, reading.spread_ratio);
  for (const auto& reading : {probe.copy, probe.read})
    if (reading) widest = std::max(widest, reading->spread_ratio);
  return widest;
}

MainMemory memory_of(const Inventory& machine, const ProbeMeasurements& probe) {
  MainMemory memory;
  memory.kind = "DRAM";
  if (machine.memory.total_bytes) memory.bytes = from_kernel(static_cast<double>(*machine.memory.total_bytes));
  if (probe.copy) memory.bytes_per_s = measured(probe.copy->per_second);
  if (probe.copy && probe.read) memory.bytes_per_s->others.push_back({probe.read->per_second, kMeasuredRead});
  return memory;
}

}  // namespace

const ProbeReading* faster_wider_type(const ProbeMeasurements& measured, const ProbeReading& reading) {
  const ProbeReading* fastest = nullptr;
  if (!reading.what.starts_with("float")) return fastest;
  for (const ProbeReading& other : measured.operations)
    if (other.what.starts_with("float") && dtype_bits(other.what) > dtype_bits(reading.what) &&
        other.per_second > (fastest != nullptr ? *fastest : reading).per_second)
      fastest = &other;
  return fastest;
}

std::string id_of_processor(const Inventory& machine) {
  std::string id = vendor_of(machine.cpu);
  for (const std::string& word : words_of_model(machine.cpu)) id += "_" + word;
  const Topology topology = topology_of(machine.cpu);
  return fmt::format("{}_{}c_{:.0f}gb", id.substr(0, 60), topology.cores, gibibytes(machine));
}

Device device_of(const Inventory& machine, const ProbeMeasurements& probe, const std::string& date) {
  const Topology topology = topology_of(machine.cpu);
  // Of the cores that the process may use: another machine to a container than to its host.
  const auto cores =
      static_cast<double>(std::clamp<std::int64_t>(probe.threads / topology.threads_per_core(), 1, topology.cores));
  Device device;
  device.id = id_of_processor(machine);
  device.name =
      fmt::format("{}, {} cores, {:.0f} GiB", std::string(core::trim(machine.cpu.model)), topology.cores, gibibytes(machine));
  device.vendor = vendor_of(machine.cpu);
  device.kind = DeviceKind::cpu;
  device.architecture = machine.cpu.family && machine.cpu.model_number
                            ? fmt::format("family {} model {}", *machine.cpu.family, *machine.cpu.model_number)
                            : "unknown";
#if defined(__x86_64__)
  device.target = "x86-64";
#elif defined(__aarch64__)
  device.target = "aarch64";
#endif
  device.sources = {
      {kKernel, "Kernel interfaces of this machine: /proc/cpuinfo, /sys/devices/system/cpu, /proc/meminfo"},
      {kMeasured, fmt::format("Measured by aaco hardware probe, {}: best of several repetitions, {} threads, {}", date,
                              probe.threads, probe.vector_unit)},
      {kMeasuredRead, "The same measurement, reads only (the other counts bytes read plus bytes written by a copy)"}};
  device.engines.push_back(engine_of(probe, cores));
  device.memory = memory_of(machine, probe);
  add_levels(machine, probe, device);
  note_slow_types(probe, device);
  device.execution.simd_bits = probe.simd_bits;
  device.execution.threads_per_unit = topology.threads_per_core();
  device.execution.numa_nodes = std::max<std::int64_t>(1, machine.cpu.numa_nodes.value_or(1));
  device.execution.dies = topology.sockets;
  if (const double spread = widest_spread(probe); spread > kSteadySpread)
    device.notes.push_back(
        fmt::format("The repetitions differed by up to {:.0f} %: other processes were running or the clock changed. Probe again "
                    "on an idle machine.",
                    100 * spread));
  device.notes.push_back(
      "Figures are measured on this machine, not vendor specifications: a virtual machine or a quota may limit them. Matrix "
      "units (AMX) are not measured.");
  return device;
}

}  // namespace aaco::hardware
