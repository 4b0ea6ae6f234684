#include "hardware/inventory.h"

namespace aaco::hardware {
namespace {

using core::Json;

template <class Map>
Json object_of(const Map& values) {
  Json out = Json::object();
  for (const auto& [key, value] : values) out.set(key, value);
  return out;
}

// Leaves empty texts and lists out.
void put(Json& out, std::string_view key, const std::string& value) {
  if (!value.empty()) out.set(key, value);
}
void put(Json& out, std::string_view key, const std::vector<std::string>& values) {
  if (!values.empty()) out.set(key, Json::texts(values));
}

Json os_json(const OsInfo& os) {
  Json out = Json::object();
  put(out, "host", os.host);
  put(out, "kernel", os.kernel);
  put(out, "kernel_version", os.kernel_version);
  put(out, "distribution", os.distribution);
  if (!os.kernel_options.empty()) out.set("kernel_options", object_of(os.kernel_options));
  out.set_if("transparent_hugepages", os.transparent_hugepages).set_if("aslr", os.aslr);
  return std::move(out.set_if("perf_event_paranoid", os.perf_event_paranoid));
}

Json cpu_json(const CpuInfo& cpu) {
  Json out = Json::object();
  put(out, "vendor", cpu.vendor);
  put(out, "model", cpu.model);
  put(out, "microcode", cpu.microcode);
  out.set_if("family", cpu.family).set_if("model_number", cpu.model_number).set_if("stepping", cpu.stepping);
  out.set_if("logical_cpus", cpu.logical_cpus)
      .set_if("allowed_cpus", cpu.allowed_cpus)
      .set_if("allowed_cpu_list", cpu.allowed_cpu_list)
      .set_if("physical_cores", cpu.physical_cores);
  out.set_if("sockets", cpu.sockets).set_if("numa_nodes", cpu.numa_nodes);
  Json caches = Json::array();
  for (const CpuCache& cache : cpu.caches)
    caches.push(Json::object(
        {{"level", cache.level}, {"type", cache.type}, {"size_bytes", cache.size_bytes}, {"shared_cpus", cache.shared_cpus}}));
  if (!cpu.caches.empty()) out.set("caches", std::move(caches));
  put(out, "simd", cpu.simd);
  return std::move(out.set("hypervisor", cpu.hypervisor));
}

Json memory_json(const MemoryInfo& memory) {
  Json out = Json::object();
  out.set_if("total_bytes", memory.total_bytes).set_if("available_bytes", memory.available_bytes);
  out.set_if("swap_total_bytes", memory.swap_total_bytes);
  return std::move(out.set_if("hugepages_total", memory.hugepages_total).set_if("hugepage_bytes", memory.hugepage_bytes));
}

Json gpu_json(const GpuInfo& gpu) {
  Json out = Json::object({{"index", gpu.index}, {"vendor", gpu.vendor}, {"name", gpu.name}});
  put(out, "pci_address", gpu.pci_address);
  put(out, "pci_id", gpu.pci_id);
  put(out, "unique_id", gpu.unique_id);
  put(out, "vbios", gpu.vbios);
  put(out, "architecture", gpu.architecture);
  out.set_if("memory_bytes", gpu.memory_bytes).set_if("compute_units", gpu.compute_units).set_if("numa_node", gpu.numa_node);
  out.set_if("power_cap_watts", gpu.power_cap_watts);
  put(out, "compute_partition", gpu.compute_partition);
  put(out, "memory_partition", gpu.memory_partition);
  put(out, "partitions", gpu.partitions);
  Json link = Json::object();
  link.set_if("speed_transfers_per_second", gpu.pcie.speed_transfers_per_second).set_if("width_lanes", gpu.pcie.width_lanes);
  link.set_if("max_speed_transfers_per_second", gpu.pcie.max_speed_transfers_per_second)
      .set_if("max_width_lanes", gpu.pcie.max_width_lanes);
  if (!link.members().empty()) out.set("pcie", std::move(link));
  return out;
}

Json visible_json(const VisibleDevices& visible) {
  const auto numbers = [](const std::vector<std::int64_t>& values) {
    Json out = Json::array();
    for (const std::int64_t value : values) out.push(value);
    return out;
  };
  Json out = Json::object(
      {{"variables", object_of(visible.variables)}, {"amd", numbers(visible.amd)}, {"nvidia", numbers(visible.nvidia)}});
  put(out, "problems", visible.problems);
  return out;
}

Json cgroup_json(const Cgroup& cgroup) {
  Json out = Json::object({{"version", cgroup.version}});
  put(out, "name", cgroup.name);
  if (!cgroup.cpu_weights.empty()) {
    Json weights = Json::array();
    for (const std::int64_t weight : cgroup.cpu_weights) weights.push(weight);
    out.set("cpu_weights", std::move(weights));
  }
  out.set_if("cpu_limit_cores", cgroup.cpu_limit_cores).set_if("memory_limit_bytes", cgroup.memory_limit_bytes);
  return std::move(out.set_if("cpus", cgroup.cpus));
}

Json job_json(const JobIdentity& job) {
  Json out = Json::object();
  out.set_if("rank", job.rank)
      .set_if("world_size", job.world_size)
      .set_if("local_rank", job.local_rank)
      .set_if("node_rank", job.node_rank);
  put(out, "rank_source", job.rank_source);
  put(out, "scheduler", job.scheduler);
  put(out, "job_id", job.job_id);
  put(out, "job_name", job.job_name);
  put(out, "cluster", job.cluster);
  put(out, "nodes", job.nodes);
  put(out, "container_id", job.container_id);
  put(out, "pod", job.pod);
  put(out, "pod_namespace", job.pod_namespace);
  put(out, "pod_uid", job.pod_uid);
  return out;
}

Json environment_json(const FilteredEnvironment& environment) {
  return Json::object({{"variables", object_of(environment.variables)},
                       {"values_removed", environment.removed},
                       {"variables_not_listed", environment.unlisted}});
}

}  // namespace

core::Json to_json(const Inventory& inventory) {
  Json gpus = Json::array();
  for (const GpuInfo& gpu : inventory.gpus) gpus.push(gpu_json(gpu));
  return Json::object({{"os", os_json(inventory.os)},
                       {"cpu", cpu_json(inventory.cpu)},
                       {"clocks", to_json(inventory.clocks)},
                       {"memory", memory_json(inventory.memory)},
                       {"gpus", std::move(gpus)},
                       {"visible_devices", visible_json(inventory.visible)},
                       {"drivers", object_of(inventory.drivers)},
                       {"cgroup", cgroup_json(inventory.cgroup)},
                       {"job", job_json(inventory.job)},
                       {"environment", environment_json(inventory.environment)}});
}

}  // namespace aaco::hardware
