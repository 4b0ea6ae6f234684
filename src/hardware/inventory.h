#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/environment.h"
#include "core/json.h"
#include "hardware/cgroup.h"
#include "hardware/cpu_clock.h"
#include "hardware/fingerprint.h"
#include "hardware/secrets.h"

namespace aaco::hardware {

struct CpuCache {
  int level = 0;
  std::string type;  // Data, Instruction, Unified
  std::int64_t size_bytes = 0;
  std::string shared_cpus;  // "0-1"
  bool operator==(const CpuCache&) const = default;
};

struct CpuInfo {
  std::string vendor, model, microcode;
  std::optional<std::int64_t> family, model_number, stepping;
  std::optional<std::int64_t> logical_cpus, physical_cores, sockets, numa_nodes;
  std::optional<std::int64_t> allowed_cpus;  // that this process may use: those of all its threads together
  std::string allowed_cpu_list;              // "0-2,5"; empty if unknown
  std::vector<CpuCache> caches;              // of CPU 0
  std::vector<std::string> simd;             // avx2, avx512f, amx_bf16, neon ...
  bool hypervisor = false;
};

struct OsInfo {
  std::string host, kernel, kernel_version, distribution;
  std::map<std::string, std::string> kernel_options;  // those of the command line that change timing: isolcpus, mitigations ...
  std::optional<std::string> transparent_hugepages;
  std::optional<std::int64_t> aslr;  // kernel.randomize_va_space
  std::optional<std::int64_t> perf_event_paranoid;
};

struct MemoryInfo {
  std::optional<std::int64_t> total_bytes, available_bytes, swap_total_bytes, hugepages_total, hugepage_bytes;
};

struct PcieLink {
  std::optional<double> speed_transfers_per_second, max_speed_transfers_per_second;
  std::optional<std::int64_t> width_lanes, max_width_lanes;
  bool operator==(const PcieLink&) const = default;
};

struct GpuInfo {
  std::int64_t index = 0;                                           // the collectors' device number
  std::string vendor;                                               // amd, nvidia
  std::string name;                                                 // product, or the PCI id where the driver does not say
  std::string pci_address, pci_id, unique_id, vbios, architecture;  // architecture: gfx942 ...
  std::optional<std::int64_t> memory_bytes, compute_units, numa_node;
  std::optional<double> power_cap_watts;
  std::string compute_partition, memory_partition;  // SPX, CPX ...; NPS1 ...
  std::vector<std::string> partitions;              // one entry each where a device is split
  PcieLink pcie;
};

// Where this process stands in a job of several.
struct JobIdentity {
  std::optional<std::int64_t> rank, world_size, local_rank, node_rank;
  std::string rank_source;  // the variable it came from
  std::string scheduler, job_id, job_name, cluster, nodes;
  std::string container_id, pod, pod_namespace, pod_uid;
};

// Which GPUs the process may see, by the variables of the runtimes.
struct VisibleDevices {
  std::map<std::string, std::string> variables;
  std::vector<std::int64_t> amd, nvidia;  // logical number -> index among the vendor's devices
  std::vector<std::string> problems;      // entries that name no device
};

// The lockbox: what the machine was when a session ran.
struct Inventory {
  OsInfo os;
  CpuInfo cpu;
  CpuClockState clocks;
  MemoryInfo memory;
  std::vector<GpuInfo> gpus;
  VisibleDevices visible;
  std::map<std::string, std::string> drivers;  // amdgpu, nvidia, rocm -> version
  Cgroup cgroup;
  JobIdentity job;
  FilteredEnvironment environment;
};

// Reads the machine below `root` ("/"). What is not there stays empty; nothing here fails.
Inventory take_inventory(const std::string& root, const core::Environment& environment);

core::Json to_json(const Inventory& inventory);

// The facts of the machine that a comparison depends on (fingerprint.h lists the keys).
std::vector<Fact> machine_facts(const Inventory& inventory);

}  // namespace aaco::hardware
