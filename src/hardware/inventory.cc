#include "hardware/inventory.h"

#include "core/strings.h"
#include "hardware/gpu_devices.h"
#include "hardware/inventory/job.h"
#include "hardware/inventory/machine.h"

namespace aaco::hardware {
namespace {

using inventory::MachineFiles;

std::map<std::string, std::string> read_drivers(const MachineFiles& files, const core::Environment& environment) {
  std::map<std::string, std::string> drivers;
  const auto put = [&](const char* name, std::string value) {
    if (!value.empty()) drivers[name] = std::move(value);
  };
  put("amdgpu", files.text_or_empty("/sys/module/amdgpu/version"));
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue ..."
  const std::string nvidia = files.text_or_empty("/proc/driver/nvidia/version");
  for (const std::string_view word : core::split_words(nvidia))
    if (!drivers.contains("nvidia") && word.find('.') != std::string_view::npos &&
        word.find_first_not_of("0123456789.") == std::string_view::npos)
      put("nvidia", std::string(word));
  const std::string rocm = environment.get("ROCM_PATH").value_or("/opt/rocm");
  put("rocm", files.text_or_empty(rocm + "/.info/version"));
  return drivers;
}

std::string decimal(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

Inventory take_inventory(const std::string& root, const core::Environment& environment) {
  const MachineFiles files(root);
  Inventory inventory;
  inventory.os = inventory::read_os_info(files);
  inventory.cpu = inventory::read_cpu_info(files);
  inventory.clocks = read_cpu_clock_state(root);
  inventory.memory = inventory::read_memory_info(files);
  inventory.gpus = read_gpus(root);
  const core::Environment clean = without_secrets(environment);
  inventory.visible = inventory::visible_devices(clean, inventory.gpus);
  inventory.drivers = read_drivers(files, environment);
  inventory.cgroup = find_cgroup(root, 0);
  inventory.job = inventory::read_job(files, clean);
  inventory.environment = filter_environment(environment);
  return inventory;
}

std::vector<Fact> machine_facts(const Inventory& inventory) {
  std::vector<Fact> facts;
  const auto put = [&](const char* key, std::string value) {
    if (!value.empty()) facts.push_back({key, std::move(value)});
  };
  const auto put_bool = [&](const char* key, std::optional<bool> value) {
    if (value) put(key, *value ? "on" : "off");
  };
  put("cpu.model", inventory.cpu.model);
  if (inventory.cpu.logical_cpus) put("cpu.cores", std::to_string(*inventory.cpu.logical_cpus));
  if (inventory.cpu.allowed_cpus) put("cpu.allowed_cores", std::to_string(*inventory.cpu.allowed_cpus));
  // No limit is known to be none where the group was found at all.
  if (inventory.cgroup.cpu_limit_cores)
    put("cpu.limit_cores", decimal(*inventory.cgroup.cpu_limit_cores));
  else if (inventory.cgroup.version > 0)
    put("cpu.limit_cores", "none");
  put("cpu.weight", cpu_weight_text(inventory.cgroup));
  put("cpu.governor", governors(inventory.clocks));
  put_bool("cpu.boost", inventory.clocks.boost);
  put_bool("cpu.smt", inventory.clocks.smt_active);
  if (inventory.memory.total_bytes) put("memory.total_bytes", std::to_string(*inventory.memory.total_bytes));
  if (inventory.cgroup.memory_limit_bytes) put("memory.limit_bytes", std::to_string(*inventory.cgroup.memory_limit_bytes));
  std::vector<std::string> devices, partitions;
  for (const GpuInfo& gpu : inventory.gpus) {
    devices.push_back(gpu.name);
    if (!gpu.compute_partition.empty() || !gpu.memory_partition.empty())
      partitions.push_back(gpu.compute_partition + "/" + gpu.memory_partition);
  }
  put("gpu.devices", devices.empty() ? "none" : core::join(devices, "; "));
  put("gpu.partitions", core::join(partitions, "; "));
  if (!inventory.gpus.empty()) {
    std::vector<std::string> visible;
    for (const std::int64_t device : inventory.visible.amd) visible.push_back("amd" + std::to_string(device));
    for (const std::int64_t device : inventory.visible.nvidia) visible.push_back("nvidia" + std::to_string(device));
    put("gpu.visible", visible.empty() ? "none" : core::join(visible, ","));
  }
  for (const auto& [name, version] : inventory.drivers) facts.push_back({"driver." + name, version});
  put("kernel", inventory.os.kernel);
  put("host", inventory.os.host);
  return facts;
}

}  // namespace aaco::hardware
