#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/cpu_set.h"
#include "hardware/inventory/cgroup_files.h"
#include "hardware/inventory/job.h"
#include "hardware/inventory/machine.h"

using namespace aaco::hardware;  // NOLINT: one function

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CpuInfo cpu;
  inventory::parse_cpuinfo(text, cpu);
  (void)inventory::parse_cache_size(text);
  (void)inventory::timing_options(text);
  (void)inventory::os_release_value(text, "PRETTY_NAME");
  (void)aaco::core::parse_cpu_list(text);
  (void)inventory::parse_cpu_max(text);
  const auto mounts = inventory::parse_mounts(text);
  for (const auto& membership : inventory::parse_memberships(text))
    for (const auto& mount : mounts) (void)inventory::carries(mount, membership);
  JobIdentity job;
  inventory::parse_container(text, job);
  std::vector<GpuInfo> gpus(3);
  for (GpuInfo& gpu : gpus) gpu.vendor = "amd";
  aaco::core::Environment environment;
  environment.set("HIP_VISIBLE_DEVICES", std::string(text));
  (void)inventory::visible_devices(environment, gpus);
  return 0;
}
